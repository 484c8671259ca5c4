'use strict';

// Latency against throughput: the measured frontier with its intervals, what it leaves behind, the goal, the speed of light.
(() => {
  const nameOf = (line) => fizeau.lineNamed('frontier', line).name;
  const titleOf = (across) => fizeau.described.frontier.across.find(({ key }) => key === across).title;
  const firstOf = (names, name) => Math.max(0, Object.keys(names).indexOf(name));
  const choices = (names) => Object.entries(names).map(([value, text]) => ({ value, text }));

  fizeau.charts.frontier = {
    // It opens on the latency of which the goal is nearest.
    controls: (runs) => {
      const latencies = fizeau.latencies('frontier');
      const goal = fizeau.nearestGoal(runs, Object.keys(latencies));
      return [
        { key: 'metric', label: 'Latency', choices: choices(latencies), first: firstOf(latencies, goal?.metric) },
        { key: 'statistic', label: 'Statistic', choices: choices(fizeau.STATISTICS), first: firstOf(fizeau.STATISTICS, goal?.figure.split('_')[0]) },
        { key: 'x', label: 'Throughput', isLong: true, choices: choices(fizeau.throughputs()).filter(({ value }) => isKnown(runs, value)) },
      ];
    },
    build: (runs, { metric, statistic, x }, view) => {
      const y = `${statistic}_${metric}_ms`;
      const parts = runs.map((run, index) => partOf(run, index, { x, y, metric }, runs, view));
      const points = parts.flatMap((part) => part.points);
      if (points.length === 0) return { empty: nothing(runs, y) };
      const goals = fizeau.goalsOf(runs, y);
      return drawing(parts, goals, { x, y, metric, statistic }, view);
    },
  };

  const isKnown = (runs, name) => runs.some((run) => run.levels.some((level) => level.figures[name]));

  const nothing = (runs, y) => {
    const levels = runs.flatMap((run) => run.levels);
    if (levels.length === 0) return 'Nothing to show: no level was measured.';
    const reason = levels.find((level) => level.left_out)?.left_out;
    const why = reason ? `: ${reason}` : '';
    return `Nothing to show: no level has both a throughput and a ${fizeau.nameOf(y)}${why}.`;
  };

  // What one run adds: its points, parted, and its curves.
  const partOf = (run, index, shown, runs, view) => {
    const points = fizeau.points(run, shown.x, shown.y);
    const isReport = shown.x === 'requests_per_s' && shown.y === 'p99_e2el_ms';
    const frontier = isReport
      ? run.frontier.map((at) => points.find((point) => point.index === at)).filter(Boolean)
      : fizeau.frontierOf(points);
    return {
      run,
      points,
      frontier,
      behind: points.filter((point) => !frontier.includes(point)),
      operating: points.filter((point) => point.index === run.operating),
      isAlone: runs.length === 1,
      colour: fizeau.colourOf(view, index),
      entry: (text) => fizeau.entry(run, runs, text),
    };
  };

  const drawing = (parts, goals, shown, view) => {
    const curves = curvesOf(parts, shown, view);
    const series = [...curves, ...parts.flatMap((part) => seriesOf(part, shown, view))];
    const measured = series.find((one) => one.data.some((item) => item.tip));
    measured.markLine = fizeau.goalLines(goals, 'yAxis', view);
    const ends = (of) => parts.flatMap((part) => part.points.flatMap((point) => valuesOf(point[of])));
    const limits = goals.map((goal) => goal.limit);
    // The light goes on to loads that nobody measured: it may not press what was measured into a corner.
    const most = 1.2 * Math.max(...ends('y'), ...limits);
    const along = (axis) =>
      curves.flatMap((curve) => curve.data.filter((value) => value[1] <= most).map((value) => value[axis]));
    const star = parts.some((part) => part.points.some((point) => point.y.stand_in)) ? ' (* greatest of fewer than 100)' : '';
    return {
      option: {
        xAxis: fizeau.xAxis([...ends('x'), ...along(0)], { name: titleOf(shown.x), scale: fizeau.scaleBeside(ends('x'), along(0)) }, view),
        yAxis: fizeau.yAxis([...ends('y'), ...along(1), ...limits], { name: fizeau.nameOf(shown.y) + star, unit: 'ms' }, view),
        series,
      },
      legend: series.filter((one) => one.entry).map((one) => ({ name: one.name, ...one.entry })),
    };
  };

  const valuesOf = (figure) => (fizeau.hasInterval(figure) ? [figure.low, figure.value, figure.high] : [figure.value]);

  const seriesOf = (part, shown, view) => {
    const { run, frontier, behind, operating, colour, entry, isAlone } = part;
    const names = [shown.x, shown.y, 'output_tps', 'p99_ttft_ms', 'p99_tpot_ms', 'p99_e2el_ms'];
    const datum = (point) => ({
      value: [point.x.value, point.y.value],
      tip: fizeau.tipOf(run, point, names),
      text: point.level.label + (point.y.stand_in ? '*' : ''),
      apart: operating.includes(point) ? 13 : undefined,
      label: { color: view.colours.ink, fontSize: 12 },
    });
    // Beside other runs a level that is dominated keeps a trace of its run's colour.
    const grey = isAlone ? view.colours.faint : colour;
    const front = {
      name: entry(nameOf('frontier')),
      type: 'line',
      data: frontier.map(datum),
      symbol: 'circle',
      symbolSize: 9,
      itemStyle: { color: colour },
      lineStyle: { color: colour, width: 2 },
      markArea: fizeau.boxes(frontier, colour),
      z: 4,
      entry: { shape: 'both', colour },
    };
    const rest = {
      name: entry(nameOf('dominated')),
      type: 'scatter',
      data: behind.map(datum),
      symbolSize: 8,
      itemStyle: { color: view.colours.paper, borderColor: grey, borderWidth: 1.5, opacity: isAlone ? 1 : 0.6 },
      markArea: fizeau.boxes(behind, grey),
      z: 3,
      entry: behind.length > 0 ? { shape: 'ring', colour: grey } : undefined,
    };
    const ring = {
      name: entry(nameOf('operating')),
      type: 'scatter',
      silent: true,
      data: operating.map((point) => ({ value: [point.x.value, point.y.value] })),
      symbolSize: 19,
      itemStyle: { color: 'transparent', borderColor: view.colours.good, borderWidth: 2.5 },
      z: 5,
      entry: operating.length > 0 ? { shape: 'ring', colour: view.colours.good } : undefined,
    };
    return [front, rest, ring];
  };

  // What the hardware could do. These are means, whatever statistic is measured: the legend says so.
  const curvesOf = (parts, { x, metric }, view) => {
    const texts = fizeau.lightTexts('frontier', `, mean ${fizeau.latencies()[metric]}`);
    return fizeau.lightCurves(parts, texts, (point) => [point[x], point[`${metric}_ms`]], view);
  };
})();
