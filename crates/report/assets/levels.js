'use strict';

// Levels as points: which figures, which of them no other beats, and what is said of each.
(() => {
  const METRICS = {
    e2el: 'E2EL',
    ttft: 'TTFT',
    tpot: 'TPOT',
    itl: 'ITL',
  };
  fizeau.METRICS = METRICS;
  fizeau.STATISTICS = { p99: 'p99', p50: 'p50', mean: 'mean' };
  fizeau.THROUGHPUTS = {
    requests_per_s: 'requests/s',
    output_tps: 'output tokens/s',
    output_tps_per_device: 'output tokens/s per device',
  };
  const UNITS = { requests_per_s: '/s', output_tps: 'tok/s', output_tps_per_device: 'tok/s', user_tps: 'tok/s' };
  fizeau.unit = (figure) => (figure.endsWith('_ms') ? 'ms' : UNITS[figure] || '');

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
      if (level.figures[name]) lines.push([fizeau.nameOf(name), fizeau.figure(level.figures[name], fizeau.unit(name))]);
    }
    if (Number.isFinite(level.light_share)) lines.push(['of speed of light', `${fizeau.number(level.light_share * 100)} %`]);
    if (level.verdict !== 'valid') lines.push(['verdict', level.verdict]);
    if (level.saturated) lines.push(['queue', 'grew to the end']);
    const operating = run.operating === point.index ? ' (operating point)' : '';
    return { title: `${run.name ? `${run.name}: ` : ''}${level.load}${operating}`, lines };
  };

  // `p99_e2el_ms` in words.
  fizeau.nameOf = (figure) => {
    const parts = /^(\w+?)_(ttft|tpot|itl|e2el)_ms$/.exec(figure);
    if (parts) return `${parts[1]} ${METRICS[parts[2]]}`;
    if (figure === 'user_tps') return 'tokens/s per user';
    return fizeau.THROUGHPUTS[figure] || figure;
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
    const metric = /_(ttft|tpot|itl|e2el)_ms$/.exec(figure)?.[1];
    const fits = (goal) => goal.figure === figure || (goal.metric === metric && !isKnown(goal.figure));
    const texts = new Set();
    return runs.flatMap((run) => run.goals.filter(fits)).filter((goal) => !texts.has(goal.text) && texts.add(goal.text));
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

  // A colour for each of `count` levels in order: those of the series as far as they go.
  fizeau.ramp = (view, index) => fizeau.colourOf(view, index);
})();
