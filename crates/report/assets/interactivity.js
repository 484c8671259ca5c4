'use strict';

// What a user sees against what a device gives: tokens per second of each.
(() => {
  fizeau.charts.interactivity = {
    controls: () => [],
    build: (runs, _, view) => {
      const perDevice = runs.some((run) => run.levels.some((level) => level.figures.output_tps_per_device));
      const y = perDevice ? 'output_tps_per_device' : 'output_tps';
      const part = (run, index) => ({
        run,
        points: fizeau.points(run, 'user_tps', y),
        colour: fizeau.colourOf(view, index),
        entry: (text) => fizeau.entry(run, runs, text),
      });
      const parts = runs.map(part);
      if (parts.every(({ points }) => points.length === 0)) {
        return { empty: 'Nothing to show: no level has both a time per output token and a throughput.' };
      }
      const curves = fizeau.lightCurves(parts, fizeau.lightTexts('interactivity'), (point) => [point.user_tps, point[y]], view);
      const series = [...curves, ...parts.flatMap((one) => seriesOf(one, y, view))];
      const all = (axis) => series.flatMap((one) => one.data.map((item) => (item.value || item)[axis]));
      const scale = (of, axis) =>
        fizeau.scaleBeside(parts.flatMap((one) => one.points.map((point) => point[of].value)), all(axis), 'value');
      const { across, up } = fizeau.described.interactivity;
      const { title } = up.find(({ key }) => key === y);
      const name = perDevice ? title : `${title} (number of devices not known)`;
      return {
        option: {
          xAxis: fizeau.xAxis(all(0), { name: across[0].title, scale: scale('x', 0) }, view),
          yAxis: fizeau.yAxis(all(1), { name, scale: scale('y', 1) }, view),
          series,
        },
        legend: series.filter((one) => one.entry).map((one) => ({ name: one.name, ...one.entry })),
      };
    },
  };

  const seriesOf = ({ run, points, colour, entry }, y, view) => {
    const best = new Set(fizeau.frontierOf(points, true));
    const datum = (point) => ({
      value: [point.x.value, point.y.value],
      tip: fizeau.tipOf(run, point, ['user_tps', y, 'p50_tpot_ms', 'p99_ttft_ms']),
      text: point.level.label,
      apart: run.operating === point.index ? 13 : undefined,
      label: { color: view.colours.ink, fontSize: 12 },
      itemStyle: best.has(point) ? { color: colour } : { color: view.colours.paper, borderColor: view.colours.faint, borderWidth: 1.5 },
    });
    const operating = points.filter((point) => point.index === run.operating);
    return [
      {
        name: entry('measured'),
        type: 'line',
        data: [...points].sort((a, b) => a.level.load_value - b.level.load_value).map(datum),
        symbol: 'circle',
        symbolSize: 9,
        lineStyle: { color: colour, width: 1.5, opacity: 0.6 },
        itemStyle: { color: colour },
        markArea: fizeau.boxes(points, colour),
        z: 4,
        entry: { shape: 'both', colour },
      },
      {
        name: entry(fizeau.lineNamed('interactivity', 'operating').name),
        type: 'scatter',
        silent: true,
        data: operating.map((point) => ({ value: [point.x.value, point.y.value] })),
        symbolSize: 19,
        itemStyle: { color: 'transparent', borderColor: view.colours.good, borderWidth: 2.5 },
        z: 5,
        entry: operating.length > 0 ? { shape: 'ring', colour: view.colours.good } : undefined,
      },
    ];
  };
})();
