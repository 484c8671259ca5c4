'use strict';

// Levels as points: which figures, which of them no other beats, and what is said of each.
(() => {
  fizeau.STATISTICS = { p99: 'p99', p50: 'p50', mean: 'mean' };
  const labels = (axes) => Object.fromEntries(axes.map(({ key, label }) => [key, label]));
  // Latencies and throughputs by their keys, in short.
  fizeau.latencies = (chart = 'quantiles') => labels(fizeau.described[chart].up);
  fizeau.throughputs = () => labels(fizeau.described.frontier.across);
  // The name of a line of a chart, and how it is broken.
  fizeau.lineNamed = (chart, key) => fizeau.described[chart].lines.find((line) => line.key === key);
  const LIGHT = ['bound', 'expected', 'calibrated'];
  // What could be, as the legend of a chart has it, with `more` behind each name.
  fizeau.lightTexts = (chart, more = '') =>
    Object.fromEntries(LIGHT.map((key) => [key, fizeau.lineNamed(chart, key).name + more]));
  // Of a throughput the name says it.
  const unitOf = (figure) => (figure.endsWith('_ms') ? 'ms' : '');

  // The levels of `run` of which both figures are known, without those that are compared with nothing.
  fizeau.points = (run, x, y) =>
    run.levels
      .map((level, index) => ({ level, index, x: level.figures[x], y: level.figures[y] }))
      .filter((point) => point.x && point.y && point.level.place !== 'left_out');

  // Of `points` those that no other beats: more of x, and less of y (or more of it where `isMore`). By rising x.
  fizeau.frontierOf = (points, isMore) => {
    const sign = isMore ? -1 : 1;
    const y = (point) => sign * point.y.value;
    const beats = (a, b) =>
      a.x.value >= b.x.value && y(a) <= y(b) && (a.x.value > b.x.value || y(a) < y(b));
    const best = points.filter((point) => !points.some((other) => beats(other, point)));
    return best.sort((a, b) => a.x.value - b.x.value);
  };

  // What a pointer or the keyboard shows of a point.
  fizeau.tipOf = (run, point, names) => {
    const { level } = point;
    const lines = [];
    for (const name of [...new Set(names)]) {
      if (level.figures[name]) lines.push([fizeau.nameOf(name), fizeau.figure(level.figures[name], unitOf(name))]);
    }
    if (Number.isFinite(level.light_share)) lines.push(['of speed of light', `${fizeau.number(level.light_share * 100)} %`]);
    if (level.verdict !== 'valid') lines.push(['verdict', level.verdict]);
    if (level.saturated) lines.push(['queue', 'grew to the end']);
    const operating = run.operating === point.index ? ' (operating point)' : '';
    return { title: `${run.name ? `${run.name}: ` : ''}${level.load}${operating}`, lines };
  };

  // `p99_e2el_ms` in words.
  fizeau.nameOf = (figure) => {
    const [, statistic, key] = /^(\w+?)_(\w+)_ms$/.exec(figure) || [];
    if (fizeau.latencies()[key]) return `${statistic} ${fizeau.latencies()[key]}`;
    return { ...labels(fizeau.described.interactivity.across), ...fizeau.throughputs() }[figure] || figure;
  };

  // The interval of each point as a box; a figure without one makes it a line.
  fizeau.boxes = (points, colour) => {
    const ends = (figure) => (fizeau.hasInterval(figure) ? [figure.low, figure.high] : [figure.value, figure.value]);
    const box = ({ x, y }) => {
      if (!fizeau.hasInterval(x) && !fizeau.hasInterval(y)) return [];
      const [[left, right], [low, high]] = [ends(x), ends(y)];
      return [[{ coord: [left, low] }, { coord: [right, high] }]];
    };
    return {
      silent: true,
      data: points.flatMap(box),
      itemStyle: { color: colour, opacity: 0.16, borderColor: colour, borderWidth: 1 },
    };
  };

  // The goals as lines across a chart, on the axis `yAxis` or `xAxis`.
  fizeau.goalLines = (goals, axis, view) => ({
    silent: true,
    symbol: 'none',
    lineStyle: { color: view.colours.bad, type: [6, 4], width: 1.5 },
    label: {
      position: axis === 'yAxis' ? 'insideStartTop' : 'insideEndTop',
      color: view.colours.bad,
      fontSize: 12,
      formatter: (mark) => mark.name,
    },
    data: goals.map((goal) => ({ name: `goal: ${goal.text}`, [axis]: goal.limit })),
  });

  // The goals about a figure; those of its metric where no level has the statistic that they are about.
  fizeau.goalsOf = (runs, figure) => {
    const isKnown = (name) => runs.some((run) => run.levels.some((level) => level.figures[name]));
    const metric = /_(\w+)_ms$/.exec(figure)?.[1];
    const fits = (goal) => goal.figure === figure || (goal.metric === metric && !isKnown(goal.figure));
    const texts = new Set();
    return runs.flatMap((run) => run.goals.filter(fits)).filter((goal) => !texts.has(goal.text) && texts.add(goal.text));
  };

  // The goal that is nearest to its limit, or furthest beyond it, at the level to run at; without one, at the level that is best for
  // it. Of those about `metrics`; none where none is.
  fizeau.nearestGoal = (runs, metrics) => {
    const near = runs.flatMap((run) => {
      const levels = run.operating === null ? run.levels : [run.levels[run.operating]];
      return run.goals.filter(({ metric }) => metrics.includes(metric)).flatMap((goal) => {
        const found = levels.flatMap(({ figures }) => figures[goal.figure]?.value ?? []);
        return found.length > 0 ? [{ goal, share: Math.min(...found) / goal.limit }] : [];
      });
    });
    return near.sort((a, b) => b.share - a.share)[0]?.goal || runs.flatMap((run) => run.goals).find(({ metric }) => metrics.includes(metric));
  };

  // A colour for each run, or where it stands alone the first.
  fizeau.colourOf = (view, index) => view.colours.series[index % view.colours.series.length];

  // A run's name in a legend, before what the entry is.
  fizeau.entry = (run, runs, text) => (runs.length > 1 ? `${run.name}: ${text}` : text);

  // The levels whose tapes were read, of all runs; `key` names one.
  fizeau.levelsWithDetail = (runs) =>
    runs.flatMap((run, runIndex) => {
      const known = run.levels.map((level, index) => ({ level, index })).filter(({ level }) => level.detail);
      return known.map(({ level, index }) => ({
        run,
        runIndex,
        level,
        key: `${runIndex}:${index}`,
        title: fizeau.entry(run, runs, level.load),
        isOperating: run.operating === index,
        count: known.length,
      }));
    });

  fizeau.levelChoices = (runs) =>
    fizeau.levelsWithDetail(runs).map(({ key, title, isOperating }) => ({
      value: key,
      text: isOperating ? `${title} (operating point)` : title,
      isOperating,
    }));

  fizeau.noTapes = (runs) =>
    runs.some((run) => run.levels.length > 0)
      ? 'Nothing to show: no tapes were read, and this is drawn from single requests.'
      : 'Nothing to show: no level was measured.';

  // A colour for each of `count` levels that shows their order: from blue for the first to orange for the last.
  fizeau.ramp = (view, index, count) => {
    const along = count > 1 ? index / (count - 1) : 0;
    const isDark = fizeau.isDark(view.colours.paper);
    const lightness = isDark ? 72 - 8 * along : 50 - 8 * along;
    return `hsl(${Math.round(205 + 180 * along) % 360}, 68%, ${Math.round(lightness)}%)`;
  };

  // The speed of light as lines: of each of `parts` ({ run, colour, entry }) those that `texts` names, of the points that
  // `place` makes. Runs on the same hardware have the same, which is shown once.
  // They end at twice the greatest load that was measured: further out, nothing of theirs is beside anything.
  const shapeOf = (dash) => (dash === 'solid' ? 'line' : dash);
  fizeau.lightCurves = (parts, texts, place, view) => {
    const most = Math.max(...parts.flatMap(({ run }) => run.levels.map(inFlight)));
    return Object.entries(texts).flatMap(([kind, text]) => {
      const found = parts.map((part) => ({ part, data: within(part.run.light?.[kind] || [], 2 * most).map(place) }));
      const known = found.filter(({ data }) => data.length > 0);
      const isSame = known.every(({ data }) => JSON.stringify(data) === JSON.stringify(known[0].data));
      const isShared = isSame && known.length === parts.length;
      const shown = isShared ? known.slice(0, 1) : known;
      const type = fizeau.lineNamed('frontier', kind).dash;
      const shape = shapeOf(type);
      return shown.map(({ part, data }) => {
        const colour = isShared ? view.colours.series[3] : part.colour;
        const symbol = isSpot(data) ? 'diamond' : 'none';
        const line = { type: 'line', silent: true, symbol, symbolSize: 10, data, z: 2, lineStyle: { color: colour, type, width: 2, opacity: isShared ? 1 : 0.55 } };
        return { ...line, name: isShared ? text : part.entry(text), itemStyle: { color: colour }, entry: { shape, colour } };
      });
    });
  };

  // Whether a curve is so short that a line would not be seen: more in flight changes nothing of it.
  const isSpot = (data) => [0, 1].every((axis) => {
    const values = data.map((point) => point[axis]);
    return Math.max(...values) <= 1.02 * Math.min(...values);
  });

  // The requests in flight at a level; of a rate by Little's law, 0 where that is not known.
  const inFlight = ({ load_kind, load_value, figures }) => {
    if (load_kind === 'concurrency') return load_value;
    const [rate, stay] = [figures.requests_per_s?.value, figures.mean_e2el_ms?.value];
    return rate && stay ? (rate * stay) / 1e3 : 0;
  };

  // The points of a curve up to `most` in flight and the next; all where no load is known.
  const within = (curve, most) => {
    const end = most > 0 ? curve.findIndex((point) => point.concurrency >= most) : -1;
    return end < 0 ? curve : curve.slice(0, end + 1);
  };

  // Which level of each run a chart of lines shows, for `choice`: 'all', 'operating' (the last where there is none), or a key.
  fizeau.levelsFor = (runs, choice) => {
    const all = fizeau.levelsWithDetail(runs);
    if (choice !== 'operating') return all.filter(({ key }) => choice === 'all' || key === choice);
    return runs.flatMap((run) => {
      const own = all.filter((one) => one.run === run);
      return own.filter((one) => one.isOperating).concat(own.slice(-1)).slice(0, 1);
    });
  };

  // The choices of a chart that shows several levels at once: of several runs first one level each.
  fizeau.someLevels = (runs) => {
    const operating = runs.length > 1 ? [{ value: 'operating', text: 'operating points' }] : [];
    return [...operating, { value: 'all', text: 'all levels' }, ...fizeau.levelChoices(runs)];
  };
})();
