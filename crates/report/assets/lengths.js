'use strict';

// The time to the first token against the length of the prompt.
(() => {
  fizeau.charts.lengths = {
    controls: (runs) => [
      { key: 'level', label: 'Level', isLong: true, choices: fizeau.someLevels(runs) },
    ],
    build: (runs, { level }, view) => {
      if (fizeau.levelChoices(runs).length === 0) return { empty: fizeau.noTapes(runs) };
      const shown = fizeau.levelsFor(runs, level);
      const series = shown.map((one, index) => cloudOf(one, index, runs, view)).filter((one) => one.data.length > 0);
      if (series.length === 0) return { empty: 'Nothing to show: the lengths of the prompts are not known.' };
      const [ttft] = fizeau.described.lengths.up;
      const values = (axis) => series.flatMap((one) => one.data.map((item) => item.value[axis]));
      return {
        option: {
          xAxis: lengthAxis(values(0), view),
          yAxis: fizeau.yAxis(values(1), { name: ttft.title, unit: ttft.unit }, view),
          series,
        },
        legend: series.map((one) => ({ name: one.name, ...one.entry })),
      };
    },
  };

  // Prompts of nearly one length would be a bar at the edge of an axis that begins at 0; they stand in the middle of their own.
  const lengthAxis = (lengths, view) => {
    const axis = fizeau.xAxis(lengths, { name: fizeau.described.lengths.across[0].title }, view);
    const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
    if (axis.type !== 'value' || most >= 2 * least) return axis;
    if (most >= 1.1 * least) return { ...axis, min: undefined, scale: true };
    return { ...axis, min: 0.9 * least, max: 1.1 * most, axisLabel: { ...axis.axisLabel, showMinLabel: false, showMaxLabel: false } };
  };

  const cloudOf = ({ run, runIndex, level, count }, index, runs, view) => {
    const colour = runs.length > 1 ? fizeau.colourOf(view, runIndex) : fizeau.ramp(view, index, count);
    const entry = fizeau.entry(run, runs, level.load);
    return {
      name: entry,
      type: 'scatter',
      symbolSize: 5,
      data: level.detail.ttft_by_input.map(([tokens, ms]) => ({
        value: [tokens, ms],
        tip: { title: entry, lines: [['prompt tokens', fizeau.number(tokens)], ['TTFT', fizeau.duration(ms)]] },
      })),
      itemStyle: { color: colour, opacity: 0.65 },
      entry: { shape: 'dot', colour },
    };
  };
})();
