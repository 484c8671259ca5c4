'use strict';

// A figure of the page with its chart: drawn when it has room, again when that changes, the colours do, or it goes to paper.
//
// A kind of chart is `fizeau.charts[name]`: `controls(runs)` gives what a reader may choose, `build(runs, state, view)` gives
// `{ option, legend }` (with `walk` the points for the keyboard, with `height` its own in pixels), or `{ empty: 'why there is nothing' }`. A datum with `tip` ({ title, lines }) is a point that a pointer
// or the keyboard can be at; with `text` it has a label.
(() => {
  const drawn = new Map();
  const NARROW = 560;
  // A plot's height on paper, where its style has none and would be drawn as nothing.
  const ON_PAPER = 360;

  class Chart {
    constructor(figure, kind, runs) {
      this.figure = figure;
      this.name = figure.dataset.chart;
      this.plot = figure.querySelector('.plot');
      this.kind = kind;
      this.runs = runs;
      this.state = {};
      this.hidden = new Set();
      this.instance = null;
      this.built = null;
      fizeau.addControls(this);
      fizeau.addKeys(this);
    }

    // What the kind makes of the data as things are.
    build(view) {
      return this.kind.build(this.runs, this.state, view);
    }

    view() {
      const width = this.plot.clientWidth;
      return { width, isNarrow: width < NARROW, colours: fizeau.colours(), isStill: fizeau.isStill(), isPaper: fizeau.isPaper() };
    }

    draw() {
      if (this.plot.clientWidth === 0) return;
      const view = this.view();
      if (!view.isPaper && this.plot.clientHeight < 120) this.plot.style.height = '380px';
      this.built = this.build(view);
      if (this.built.empty) this.say(this.built.empty);
      else this.show(view);
      fizeau.showLegend(this, view);
    }

    say(reason) {
      if (this.instance) this.instance.dispose();
      this.instance = null;
      this.plot.style.height = 'auto';
      this.plot.replaceChildren(fizeau.element('p', { class: 'nothing' }, reason));
      this.figure.dataset.drawn = 'empty';
    }

    show(view) {
      if (!this.instance) {
        this.plot.style.height = '';
        this.plot.replaceChildren();
        this.instance = globalThis.echarts.init(this.plot, null, { renderer: 'svg' });
        this.instance.on('datazoom', () => this.relabel());
      }
      // What it was told once it keeps: `auto` is to look again.
      const { height } = this.built;
      if (height) this.plot.style.height = `${height}px`;
      this.instance.resize(view.isPaper ? { width: view.width, height: height || ON_PAPER } : { width: 'auto', height: 'auto' });
      this.instance.setOption(this.option(view), { notMerge: true });
      this.relabel();
      this.makeScalable();
      this.figure.dataset.drawn = 'yes';
    }

    // Paper has a width of its own, which no script is told in time: the style sheet scales what was drawn.
    makeScalable() {
      const svg = this.plot.querySelector('svg');
      if (svg) svg.setAttribute('viewBox', `0 0 ${this.instance.getWidth()} ${this.instance.getHeight()}`);
    }

    relabel() {
      fizeau.placeLabels(this.instance, this.built.option.series);
    }

    option(view) {
      return fizeau.complete(this.built, view, this.hidden);
    }

    // The points that the keyboard walks: those of the series that are shown.
    points() {
      if (!this.built || !this.built.option) return [];
      if (this.built.walk) return this.built.walk;
      return this.built.option.series.flatMap((series, seriesIndex) =>
        this.hidden.has(series.name)
          ? []
          : (series.data || []).flatMap((item, dataIndex) =>
              item && item.tip ? [{ seriesIndex, dataIndex, value: item.value, tip: item.tip }] : [],
            ),
      );
    }
  }

  // What every chart has besides its own.
  fizeau.complete = (built, view, hidden) => {
    const { option } = built;
    const names = [...new Set(option.series.map((series) => series.name))];
    option.series.forEach((series, index) => {
      series.id = `s${index}`;
    });
    return {
      animation: !view.isStill,
      animationDuration: 0,
      animationDurationUpdate: 250,
      backgroundColor: 'transparent',
      textStyle: { fontFamily: 'system-ui, sans-serif', color: view.colours.ink },
      grid: fizeau.grid(),
      // There only for its brush; its icons could not be reached from a keyboard, so the controls have buttons.
      toolbox: { top: -100, itemSize: 0, feature: { dataZoom: { filterMode: 'none', yAxisIndex: built.zoomsBoth === false ? 'none' : undefined } } },
      dataZoom: zooms(built),
      ...option,
      legend: { show: false, data: names, selected: Object.fromEntries(names.map((name) => [name, !hidden.has(name)])) },
      tooltip: { ...tooltip(view), ...option.tooltip },
    };
  };

  // A wheel alone scrolls the page: it zooms with shift. Fingers pinch.
  const zooms = (built) => {
    const inside = { type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'shift', preventDefaultMouseMove: false };
    const x = { ...inside, id: 'x', xAxisIndex: built.zoomsAxes || [0] };
    return built.zoomsBoth === false ? [x] : [x, { ...inside, id: 'y', yAxisIndex: [0] }];
  };

  const tooltip = (view) => ({
    trigger: 'item',
    confine: true,
    transitionDuration: view.isStill ? 0 : 0.15,
    backgroundColor: view.colours.paper,
    borderColor: view.colours.line,
    textStyle: { color: view.colours.ink, fontSize: 13 },
    formatter: (at) => (at.data && at.data.tip ? fizeau.tipElement(at.data.tip) : ''),
  });

  // A tip as an element: strangers' words stay words.
  fizeau.tipElement = ({ title, lines }) => {
    const row = ([name, value]) =>
      fizeau.element('tr', {}, fizeau.element('th', { scope: 'row' }, name), fizeau.element('td', {}, value));
    const table = fizeau.element('table', {}, ...lines.map(row));
    return fizeau.element('div', { class: 'fizeau-tip' }, fizeau.element('strong', {}, title), table);
  };
  fizeau.tipText = ({ title, lines }) => [title, ...lines.map(([name, value]) => `${name} ${value}`)].join('; ');

  fizeau.chart = (name) => drawn.get(name);

  // Where point number `index` of a chart lies in the window, in pixels.
  fizeau.pixelOf = (name, index) => {
    const chart = drawn.get(name);
    const point = chart && chart.points()[index];
    if (!point) return null;
    const [x, y] = chart.instance.convertToPixel({ seriesIndex: point.seriesIndex }, point.value);
    const box = chart.plot.getBoundingClientRect();
    return { x: box.left + x, y: box.top + y, tip: fizeau.tipText(point.tip) };
  };

  fizeau.drawAll = () => drawn.forEach((chart) => chart.draw());

  fizeau.addCharts = (runs) => {
    for (const figure of document.querySelectorAll('figure.chart[data-chart]')) {
      const kind = fizeau.charts[figure.dataset.chart];
      if (!kind || !figure.querySelector('.plot')) continue;
      const chart = new Chart(figure, kind, runs);
      drawn.set(chart.name, chart);
      watch(chart);
    }
  };

  // Draws it once it has a width, and again when that changes.
  const watch = (chart) => {
    let width = 0;
    new ResizeObserver(() => {
      if (chart.plot.clientWidth === width) return;
      width = chart.plot.clientWidth;
      // Not at once: what changes sizes while sizes are told is an error.
      requestAnimationFrame(() => chart.draw());
    }).observe(chart.plot);
  };
})();
