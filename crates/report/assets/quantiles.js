'use strict';

// Whole distributions: what share of values is no greater than which latency, on an axis that gives the tail its room.
(() => {
  const SHARES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
  const at = (share) => -Math.log10(1 - share);
  const percent = (share) => `${Number((share * 100).toFixed(4))} %`;

  fizeau.charts.quantiles = {
    controls: (runs) => [
      { key: 'metric', label: 'Latency', choices: Object.entries(fizeau.latencies()).map(([value, text]) => ({ value, text })) },
      { key: 'level', label: 'Level', isLong: true, choices: fizeau.someLevels(runs) },
    ],
    build: (runs, { metric, level }, view) => {
      if (fizeau.levelChoices(runs).length === 0) return { empty: fizeau.noTapes(runs) };
      const latency = fizeau.described.quantiles.up.find(({ key }) => key === metric);
      const lines = fizeau.levelsFor(runs, level);
      const series = lines.map((line, index) => lineOf(line, index, metric, runs, view)).filter((one) => one.data.length > 0);
      if (series.length === 0) return { empty: `Nothing to show: no request has a ${latency.label}.` };
      const values = series.flatMap((one) => one.data.map((item) => item.value[1]));
      const most = Math.max(...series.flatMap((one) => one.data.map((item) => item.value[0])));
      const goals = fizeau.goalsOf(runs, `p99_${metric}_ms`);
      series[0].markLine = fizeau.goalLines(goals, 'yAxis', view);
      return {
        option: {
          xAxis: sharesAxis(most, view),
          yAxis: fizeau.yAxis([...values, ...goals.map((goal) => goal.limit)], { name: latency.title, unit: latency.unit, scale: 'log' }, view),
          series,
        },
        legend: series.map((one) => ({ name: one.name, ...one.entry })),
      };
    },
  };

  const sharesAxis = (most, view) => {
    const customValues = SHARES.map(at).filter((value) => value <= most + 1e-9);
    const format = (value) => percent(1 - 10 ** -value);
    const axis = fizeau.xAxis([], { name: fizeau.described.quantiles.across[0].title, format, scale: 'value' }, view);
    return { ...axis, min: 0, max: most, axisTick: { customValues }, axisLabel: { ...axis.axisLabel, customValues } };
  };

  const lineOf = ({ run, runIndex, level, count }, index, metric, runs, view) => {
    const colour = runs.length > 1 ? fizeau.colourOf(view, runIndex) : fizeau.ramp(view, index, count);
    const entry = fizeau.entry(run, runs, level.load);
    const points = level.detail.quantiles[`${metric}_ms`] || [];
    return {
      name: entry,
      type: 'line',
      symbol: 'circle',
      symbolSize: 5,
      showSymbol: false,
      data: points.map(([share, ms]) => ({
        value: [at(share), ms],
        tip: { title: entry, lines: [[`${percent(share)} of ${fizeau.latencies()[metric]}`, `${fizeau.duration(ms)} or less`]] },
      })),
      triggerLineEvent: true,
      lineStyle: { color: colour, width: 2 },
      itemStyle: { color: colour },
      entry: { shape: 'line', colour },
    };
  };
})();
