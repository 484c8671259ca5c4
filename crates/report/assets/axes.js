'use strict';

// Axes: linear or logarithmic as the values ask for it, with round ticks and units.
(() => {
  // From how far apart a logarithmic axis shows more than a linear one.
  const SPAN = 20;
  // Less than that it never does: it would have a single tick.
  const LEAST = 2.5;
  const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

  // `what`: { name, unit ('ms' for durations, else none), scale: 'log' | 'value' | undefined to choose by the values, room: how
  // many times the greatest value the axis has at least }.
  fizeau.axis = (values, what, view) => {
    const positive = values.filter((value) => Number.isFinite(value) && value > 0);
    const [least, most] = [Math.min(...positive), Math.max(...positive)];
    const from = { log: LEAST, value: Infinity }[what.scale] || SPAN;
    const isLog = positive.length > 0 && most / least > from;
    const scale = isLog ? logarithmic(least, most, view) : linear(most * (what.room || 1.04));
    return { ...scale, ...dressed(what, view), axisLabel: { ...scale.axisLabel, ...labels(what, view) } };
  };

  const linear = (most) => ({ type: 'value', min: 0, max: most > 0 ? above(most) : undefined, axisLabel: {} });

  const logarithmic = (least, most, view) => {
    const [min, max] = [below(least / 1.05), above(most * 1.05)];
    const all = ticks(min, max, [1, 2, 5]);
    const customValues = all.length > (view.isNarrow ? 6 : 9) ? ticks(min, max, [1]) : all;
    return { type: 'log', min, max, axisTick: { customValues }, axisLabel: { customValues } };
  };

  // The scale of an axis on which what was measured lies beside what could be: where that goes so much further that the measured
  // would lie at the edge, a logarithmic one. Otherwise `scale`.
  const MUCH_FURTHER = 4;
  fizeau.scaleBeside = (measured, behind, scale) =>
    Math.max(...behind) > MUCH_FURTHER * Math.max(...measured) ? 'log' : scale;

  const decade = (value) => 10 ** Math.floor(Math.log10(value) + 1e-9);
  const below = (value) => STEPS.filter((step) => step * decade(value) <= value * 1.0001).pop() * decade(value);
  const above = (value) => STEPS.find((step) => step * decade(value) >= value * 0.9999) * decade(value);

  fizeau.roundAbove = above;

  const ticks = (min, max, steps) => {
    const found = [];
    for (let power = decade(min); power <= max; power *= 10) {
      found.push(...steps.map((step) => Number((step * power).toPrecision(6))));
    }
    return found.filter((tick) => tick >= min * 0.9999 && tick <= max * 1.0001);
  };

  const labels = (what, view) => ({
    color: view.colours.faint,
    fontSize: 12,
    hideOverlap: true,
    formatter: what.format || ((value) => tick(value, what.unit)),
  });

  // A tick is a round number: no more digits than it has.
  const tick = (value, unit) => {
    if (unit !== 'ms') return round(value);
    return Math.abs(value) >= 1e3 ? `${round(value / 1e3)} s` : `${round(value)} ms`;
  };
  const round = (value) => {
    if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
    if (Math.abs(value) >= 1e4) return `${Number((value / 1e3).toPrecision(4))}k`;
    return String(Number(value.toPrecision(4)));
  };

  const dressed = (what, view) => ({
    name: what.name,
    nameTextStyle: { color: view.colours.ink, fontSize: 12.5 },
    axisLine: { show: true, lineStyle: { color: view.colours.faint } },
    splitLine: { show: true, lineStyle: { color: view.colours.line } },
    minorTick: { show: false },
  });

  // The name of an x axis under it, of a y axis above it, where neither turns nor is cut.
  fizeau.xAxis = (values, what, view) => ({
    ...fizeau.axis(values, what, view),
    nameLocation: 'middle',
    nameGap: 30,
  });
  fizeau.yAxis = (values, what, view) => {
    // Room for the labels of the highest points, and of what lies behind.
    const axis = fizeau.axis(values, { room: 1.12, ...what }, view);
    const align = what.position === 'right' ? 'right' : 'left';
    return { ...axis, nameLocation: 'end', nameGap: 12, nameTextStyle: { ...axis.nameTextStyle, align } };
  };

  // The room around a plot: names above and below, labels beside it.
  fizeau.grid = (more = {}) => ({
    left: 8,
    right: 20,
    top: 34,
    bottom: 34,
    outerBoundsMode: 'same',
    outerBoundsContain: 'axisLabel',
    ...more,
  });
})();
