// The page's script: plain ES2020, no modules, no build step. Files are put together in this order:
//
//   base.js, axes.js, levels.js, labels.js, charts.js, controls.js, keys.js, save.js,
//   frontier.js, interactivity.js, load.js, quantiles.js, timeline.js, lengths.js, tables.js, start.js
//
// All of it hangs on one global name, `fizeau`. What the page holds comes from strangers: text goes into the page as text
// nodes alone, never as markup.
'use strict';

globalThis.fizeau = { charts: {} };

(() => {
  // What each chart shows, by its key: the pictures of a command line are of the same description.
  fizeau.described = {};

  // What the page carries; a page without data has no runs.
  fizeau.data = () => {
    const carrier = document.getElementById('fizeau-data');
    try {
      const data = JSON.parse(carrier ? carrier.textContent : '{}');
      const runs = Array.isArray(data.runs) ? data.runs : [];
      fizeau.described = Object.fromEntries((data.charts || []).map((chart) => [chart.key, chart]));
      return { runs: runs.map((run, index) => ({ ...run, name: run.name || (runs.length > 1 ? `run ${index + 1}` : '') })) };
    } catch {
      return { runs: [] };
    }
  };

  // An element with attributes and children; strings become text nodes.
  fizeau.element = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  // About three digits, as the page's own numbers have them.
  fizeau.number = (value) => {
    if (!Number.isFinite(value)) return '-';
    const size = Math.abs(value);
    const decimals = size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : size >= 0.00995 ? 3 : 4;
    const text = value.toFixed(decimals);
    return size >= 1e4 ? Number(value.toPrecision(4)).toLocaleString('en-GB', { maximumFractionDigits: 0 }) : text;
  };

  // Milliseconds in the unit that a person would choose.
  fizeau.duration = (ms) => (Math.abs(ms) < 1e4 ? `${fizeau.number(ms)} ms` : `${fizeau.number(ms / 1e3)} s`);

  // A figure with its interval: `412 ms (398 to 431 ms)`.
  fizeau.figure = (figure, unit) => {
    const one = unit === 'ms' ? fizeau.duration : (value) => `${fizeau.number(value)}${unit ? ` ${unit}` : ''}`;
    const text = one(figure.value) + (figure.stand_in ? ' *' : '');
    if (!hasInterval(figure)) return text;
    return `${text} (${fizeau.number(figure.low)} to ${one(figure.high)})`;
  };

  const hasInterval = (figure) => Number.isFinite(figure.low) && Number.isFinite(figure.high);
  fizeau.hasInterval = hasInterval;

  // The colours of the style sheet as they are now: light, dark or for paper.
  fizeau.colours = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name, otherwise) => style.getPropertyValue(`--${name}`).trim() || otherwise;
    const defaults = ['#2563a8', '#c2571a', '#2e8555', '#7b4fa3', '#b0303c', '#0f7f8c', '#8a6d1d', '#5a6475'];
    return {
      ink: of('ink', '#1a1f26'),
      faint: of('faint', '#66707c'),
      paper: of('paper', '#ffffff'),
      line: of('line', '#d8dde3'),
      accent: of('accent', '#2563a8'),
      good: of('good', '#2e7d4f'),
      warn: of('warn', '#a86500'),
      bad: of('bad', '#b3261e'),
      series: defaults.map((otherwise, index) => of(`c${index}`, otherwise)),
    };
  };

  // Whether a colour is a dark one: as the eye weighs red, green and blue.
  fizeau.isDark = (colour) => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
  };

  fizeau.isPaper = () => matchMedia('print').matches;

  // Whether a script's movements are unwanted: by the reader's choice, or on paper.
  fizeau.isStill = () => matchMedia('(prefers-reduced-motion: reduce), print').matches;
})();
