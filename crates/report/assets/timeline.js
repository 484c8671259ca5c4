'use strict';

// A level over time: the gaps between tokens with the prefills behind them; and what users saw above the load and what the server
// and its devices said, with the window and one cursor through all.
(() => {
  const nameOf = (line) => fizeau.lineNamed('itl', line).name;
  const nameIn = (line) => fizeau.lineNamed('timeline', line).name;

  fizeau.charts.itl = {
    controls: (runs) => [levels(runs)],
    build: (runs, { level }, view) => {
      const found = chosen(runs, level);
      if (!found) return { empty: fizeau.noTapes(runs) };
      const timeline = found.level.detail.timeline;
      const [gap, waiting] = fizeau.described.itl.up;
      const [least, tail, prefill] = [view.colours.series[0], view.colours.series[1], view.colours.faint];
      const lines = [
        line(nameOf('p50'), timeline, timeline.itl_p50_ms, least, 'ms'),
        line(nameOf('p99'), timeline, timeline.itl_p99_ms, tail, 'ms'),
        { ...line(nameOf('max'), timeline, timeline.itl_max_ms, view.colours.bad, 'ms'), lineStyle: { color: view.colours.bad, width: 1, type: 'dotted' } },
      ].filter((one) => one.data.some((value) => value[1] !== null));
      if (lines.length === 0) return { empty: 'Nothing to show: no gap between tokens is known.' };
      lines.forEach((one) => (one.entry.shape = one.name === nameOf('max') ? 'dotted' : 'line'));
      const behind = { ...area(nameOf('prefilling'), timeline, timeline.prefilling, prefill), yAxisIndex: 1, z: 1 };
      const gaps = lines.flatMap((one) => one.data.map((value) => value[1])).filter((gap) => gap !== null);
      // Tokens of one chunk have no time between them, and a logarithmic axis has no zero.
      const scale = gaps.some((gap) => gap === 0) ? 'value' : 'log';
      const series = [behind, ...lines];
      lines[0].markArea = windowOf(timeline, view);
      return {
        option: {
          grid: fizeau.grid({ right: 8 }),
          xAxis: time(timeline, view),
          yAxis: [
            fizeau.yAxis(gaps, { name: gap.title, unit: gap.unit, scale }, view),
            { ...fizeau.yAxis([], { name: waiting.title, position: 'right' }, view), splitLine: { show: false }, minInterval: 1, max: (range) => Math.max(2, fizeau.roundAbove(range.max * 2)) },
          ],
          series,
          tooltip: overTime(view, found.title),
        },
        legend: legend(series),
        walk: walk(found, series, 1),
        zoomsBoth: false,
      };
    },
  };

  fizeau.charts.timeline = {
    controls: (runs) => [levels(runs)],
    build: (runs, { level }, view) => {
      const found = chosen(runs, level);
      if (!found) return { empty: fizeau.noTapes(runs) };
      const timeline = found.level.detail.timeline;
      const [output, load, ttft] = fizeau.described.timeline.up;
      const [flight, prefill, tokens, , , , , first] = view.colours.series;
      const panels = ['ttft', 'output', 'load', ...(timeline.server ? ['server'] : [])];
      // A panel's place among the axes, and the part that has figures of its own.
      const on = (panel, more = {}) => {
        const index = panels.indexOf(panel);
        return { xAxisIndex: index, yAxisIndex: index, ...more };
      };
      const shaded = { markArea: windowOf(timeline, view) };
      const unnamed = { markArea: { ...shaded.markArea, label: { show: false } } };
      const longest = line(nameIn('ttft_max'), timeline, timeline.ttft_max_ms, first, 'ms');
      const series = [
        { ...line(load.label, timeline, timeline.in_flight, flight, 'requests'), ...on('load', unnamed) },
        { ...area(nameOf('prefilling'), timeline, timeline.prefilling, prefill), ...on('load') },
        { ...line(nameIn('ttft'), timeline, timeline.ttft_p50_ms, first, 'ms'), ...on('ttft', shaded) },
        { ...longest, lineStyle: { color: first, width: 1, type: 'dotted' }, entry: { shape: 'dotted', colour: first }, ...on('ttft') },
        { ...line(output.label, timeline, timeline.output_tps, tokens, 'tokens/s'), ...on('output', unnamed) },
        ...said(timeline, view, on, panels.length),
      ];
      const yAxes = {
        ttft: fizeau.yAxis([...timeline.ttft_p50_ms, ...timeline.ttft_max_ms].filter((one) => one !== null), { name: ttft.title, unit: ttft.unit }, view),
        output: fizeau.yAxis(timeline.output_tps, { name: output.title, scale: 'value' }, view),
        load: fizeau.yAxis(timeline.in_flight, { name: load.title, scale: 'value' }, view),
        server: caches(view),
      };
      const bare = { name: '', axisLabel: { show: false } };
      const last = panels.length - 1;
      return {
        height: TOP + panels.length * PLOT + last * BETWEEN + BOTTOM,
        option: {
          grid: panels.map((_, index) => ({ ...BESIDE, top: TOP + index * (PLOT + BETWEEN), height: PLOT })),
          xAxis: panels.map((_, gridIndex) => ({ ...time(timeline, view), ...(gridIndex < last ? bare : {}), gridIndex })),
          yAxis: [
            ...panels.map((panel, gridIndex) => ({ ...yAxes[panel], gridIndex })),
            ...(timeline.server ? [{ ...power(timeline, view), gridIndex: last }] : []),
          ],
          axisPointer: { link: [{ xAxisIndex: 'all' }] },
          series,
          tooltip: overTime(view, found.title),
        },
        legend: legend(series),
        walk: walk(found, series, 0),
        zoomsBoth: false,
        zoomsAxes: panels.map((_, index) => index),
      };
    },
  };

  // Panels one above the other, in pixels; the same room at the left, so that one second lies above the other.
  const [TOP, PLOT, BETWEEN, BOTTOM] = [34, 120, 46, 52];
  const BESIDE = { left: 56, right: 52, outerBoundsMode: 'none' };

  const levels = (runs) => {
    const choices = fizeau.levelChoices(runs);
    const first = choices.findIndex((choice) => choice.isOperating);
    return { key: 'level', label: 'Level', isLong: true, choices, first: first >= 0 ? first : choices.length - 1 };
  };

  const chosen = (runs, key) => {
    const found = fizeau.levelsWithDetail(runs).find((level) => level.key === key);
    return found && found.level.detail.timeline.in_flight.length > 0 ? found : null;
  };

  const middle = (timeline, bin) => (bin + 0.5) * timeline.bin_s;

  // A bin between empty ones is no line: it is a dot.
  const line = (name, timeline, values, colour, unit) => ({
    name,
    type: 'line',
    data: values.map((value, bin) => [middle(timeline, bin), value]),
    symbol: (_, { dataIndex }) => (isAlone(values, dataIndex) ? 'circle' : 'none'),
    symbolSize: 4,
    lineStyle: { color: colour, width: 1.8 },
    itemStyle: { color: colour },
    unit,
    z: 3,
    entry: { shape: 'line', colour },
  });

  const isEmpty = (value) => value === null || value === undefined;
  const isAlone = (values, bin) => !isEmpty(values[bin]) && isEmpty(values[bin - 1]) && isEmpty(values[bin + 1]);

  const area = (name, timeline, values, colour) => ({
    ...line(name, timeline, values, colour, 'requests'),
    lineStyle: { color: colour, width: 0.8 },
    areaStyle: { color: colour, opacity: 0.28 },
    z: 2,
    entry: { shape: 'area', colour },
  });

  // What servers and devices said, in the same bins: requests beside the client's, cache and power in a panel of their own, whose
  // axis of power is number `powerAxis`.
  const said = (timeline, view, on, powerAxis) => {
    const [, , , running, waiting, cache, watts] = view.colours.series;
    const told = (key, values, colour, unit, place, type = 'dashed') => {
      const one = line(nameIn(key), timeline, values, colour, unit);
      const shape = type === 'solid' ? 'line' : type;
      return { ...one, ...place, lineStyle: { ...one.lineStyle, type }, connectNulls: true, entry: { shape, colour } };
    };
    const { server } = timeline;
    const all = server
      ? [
          told('running', server.running, running, 'requests', on('load')),
          told('waiting', server.waiting, waiting, 'requests', on('load')),
          told('kv', server.kv_percent, cache, '%', on('server')),
          told('power', server.power_w, watts, 'W', on('server', { yAxisIndex: powerAxis }), 'solid'),
        ]
      : [];
    return all.filter((one) => one.data.some((value) => value[1] !== null));
  };

  const caches = (view) => ({ ...fizeau.yAxis([0, 100], { name: nameIn('kv'), scale: 'value' }, view), min: 0, max: 100, interval: 50 });

  const power = (timeline, view) => {
    const known = timeline.server.power_w.filter((watts) => watts !== null);
    const name = known.length > 0 ? nameIn('power') : '';
    const axis = fizeau.yAxis(known, { name, scale: 'value', position: 'right' }, view);
    return { ...axis, position: 'right', show: known.length > 0, splitLine: { show: false } };
  };

  // The part that has figures beside those of the whole, and of which kind it is.
  const windowOf = (timeline, view) => ({
    silent: true,
    itemStyle: { color: view.colours.faint, opacity: 0.1 },
    label: { show: true, position: 'insideTop', color: view.colours.faint, fontSize: 12 },
    data: timeline.window_s ? [[{ name: timeline.window_kind, xAxis: timeline.window_s[0] }, { xAxis: timeline.window_s[1] }]] : [],
  });

  // It ends where the level does, which is no round number: that end has no label.
  const time = (timeline, view) => {
    const axis = fizeau.xAxis([], { name: fizeau.described.timeline.across[0].title, scale: 'value' }, view);
    const max = timeline.in_flight.length * timeline.bin_s;
    return { ...axis, max, splitLine: { show: false }, axisLabel: { ...axis.axisLabel, showMaxLabel: false } };
  };

  const legend = (series) => series.map((one) => ({ name: one.name, ...one.entry }));

  // For the keyboard: bin by bin what all lines have.
  const walk = ({ title }, series, seriesIndex) =>
    series[seriesIndex].data.map(([seconds, own], dataIndex) => {
      const known = series.filter((one) => one.data[dataIndex][1] !== null);
      const lines = known.map((one) => [one.name, valueOf({ seriesName: one.name, value: one.data[dataIndex] })]);
      return { seriesIndex, dataIndex, value: [seconds, own], tip: { title: `${title}, ${fizeau.number(seconds)} s`, lines } };
    });

  const overTime = (view, title) => ({
    trigger: 'axis',
    axisPointer: { type: 'line', lineStyle: { color: view.colours.faint } },
    formatter: (all) => {
      const at = [all].flat();
      const seconds = at[0]?.value?.[0];
      const lines = at.filter((one) => Number.isFinite(one.value?.[1])).map((one) => [one.seriesName, valueOf(one)]);
      return fizeau.tipElement({ title: `${title}, ${fizeau.number(seconds)} s`, lines });
    },
  });
  const valueOf = ({ seriesName, value }) => (/gap|TTFT/.test(seriesName) ? fizeau.duration(value[1]) : fizeau.number(value[1]));
})();
