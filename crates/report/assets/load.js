'use strict';

// Latency against the load that was served: the median and the tail, and the goals.
(() => {
  fizeau.charts.load = {
    controls: (runs) => {
      const keys = fizeau.described.load.up.map(({ key }) => key);
      const choices = fizeau.described.load.up.map(({ key, label }) => ({ value: key, text: label }));
      const first = Math.max(0, keys.indexOf(fizeau.nearestGoal(runs, keys)?.metric));
      return [{ key: 'metric', label: 'Latency', choices, first }];
    },
    build: (runs, { metric }, view) => {
      const { across, up, lines } = fizeau.described.load;
      const latency = up.find(({ key }) => key === metric);
      // The tail first, which has the first colour.
      const statistics = [...lines].reverse();
      const series = runs.flatMap((run, index) => {
        const colour = runs.length > 1 ? fizeau.colourOf(view, index) : null;
        return statistics.map(({ key: statistic, name, dash }, at) => {
          const own = colour || view.colours.series[at];
          const shape = colour && dash !== 'solid' ? dash : 'both';
          return lineOf(run, runs, { statistic, name, metric, type: dash, shape }, own, view);
        });
      });
      const known = series.filter((one) => one.data.length > 0);
      if (known.length === 0) return { empty: `Nothing to show: no level has a ${latency.label}.` };
      const goals = [...fizeau.goalsOf(runs, `p99_${metric}_ms`), ...fizeau.goalsOf(runs, `p50_${metric}_ms`)];
      known[0].markLine = fizeau.goalLines([...new Map(goals.map((goal) => [goal.text, goal])).values()], 'yAxis', view);
      const values = (axis) => known.flatMap((one) => one.data.map((item) => item.value[axis]));
      const limits = goals.map((goal) => goal.limit);
      return {
        option: {
          xAxis: fizeau.xAxis(values(0), { name: across[0].title }, view),
          yAxis: fizeau.yAxis([...values(1), ...limits], { name: latency.title, unit: latency.unit }, view),
          series: known,
        },
        legend: known.map((one) => ({ name: one.name, ...one.entry })),
      };
    },
  };

  // By rising load, not by throughput: past its limit a server gives less for more.
  const lineOf = (run, runs, { statistic, name, metric, type, shape }, colour, view) => {
    const y = `${statistic}_${metric}_ms`;
    const points = fizeau.points(run, 'requests_per_s', y).sort((a, b) => a.level.load_value - b.level.load_value);
    const datum = (point) => ({
      value: [point.x.value, point.y.value],
      tip: fizeau.tipOf(run, point, ['requests_per_s', `p50_${metric}_ms`, `p99_${metric}_ms`, 'output_tps']),
      text: statistic === 'p99' ? point.level.label + (point.y.stand_in ? '*' : '') : undefined,
      label: { color: view.colours.ink, fontSize: 12 },
    });
    return {
      name: fizeau.entry(run, runs, name),
      type: 'line',
      data: points.map(datum),
      symbol: 'circle',
      symbolSize: statistic === 'p99' ? 8 : 6,
      lineStyle: { color: colour, type, width: 2 },
      itemStyle: { color: colour },
      markArea: fizeau.boxes(points, colour),
      entry: { shape, colour },
    };
  };
})();
