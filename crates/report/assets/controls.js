'use strict';

// What a reader may choose of a chart: real buttons and lists, which a keyboard reaches and a screen reader names.
(() => {
  const { element } = fizeau;

  fizeau.addControls = (chart) => {
    const place = chart.figure.querySelector('.controls');
    if (!place) return;
    for (const control of chart.kind.controls(chart.runs)) {
      chart.state[control.key] = control.choices[control.first || 0]?.value;
      if (control.choices.length < 2) continue;
      place.append(control.isLong ? list(chart, control) : buttons(chart, control));
    }
    const zoom = chart.kind.cannotZoom ? [] : [zoomButton(chart), button('Reset', 'Show everything again', () => chart.draw())];
    const saves = ['SVG', 'PNG'].map((kind) => button(kind, `Save the chart as ${kind}`, () => fizeau.save(chart, kind)));
    place.append(element('div', { class: 'group tools' }, ...zoom, ...saves));
    place.append(element('div', { class: 'legend' }));
  };

  const button = (text, label, act) => {
    const made = element('button', { type: 'button', 'aria-label': label, title: label }, text);
    made.addEventListener('click', act);
    return made;
  };

  const choose = (chart, key, value) => {
    chart.state[key] = value;
    chart.draw();
  };

  const buttons = (chart, control) => {
    const group = element('div', { class: 'group', role: 'group', 'aria-label': control.label });
    for (const choice of control.choices) {
      const made = element('button', { type: 'button', 'data-value': choice.value }, choice.text);
      made.setAttribute('aria-pressed', String(choice.value === chart.state[control.key]));
      made.addEventListener('click', () => {
        for (const other of group.children) other.setAttribute('aria-pressed', String(other === made));
        choose(chart, control.key, choice.value);
      });
      group.append(made);
    }
    return group;
  };

  const list = (chart, control) => {
    const options = control.choices.map((choice) => element('option', { value: choice.value }, choice.text));
    const select = element('select', { 'aria-label': control.label, 'data-key': control.key }, ...options);
    select.value = chart.state[control.key];
    select.addEventListener('change', () => choose(chart, control.key, select.value));
    return select;
  };

  // Pressed: a drag over the chart zooms into what it covers.
  const zoomButton = (chart) => {
    const made = button('Zoom', 'Drag over the chart to zoom in', () => {
      const isOn = made.getAttribute('aria-pressed') !== 'true';
      made.setAttribute('aria-pressed', String(isOn));
      if (!chart.instance) return;
      chart.instance.dispatchAction({ type: 'takeGlobalCursor', key: 'dataZoomSelect', dataZoomSelectActive: isOn });
    });
    made.setAttribute('aria-pressed', 'false');
    chart.figure.addEventListener('fizeau-drawn', () => made.setAttribute('aria-pressed', 'false'));
    return made;
  };

  // The legend: each entry a button that shows or hides its part of the chart.
  fizeau.showLegend = (chart) => {
    const place = chart.figure.querySelector('.legend');
    if (!place) return;
    chart.figure.dispatchEvent(new CustomEvent('fizeau-drawn'));
    const focused = document.activeElement?.closest('.legend') === place ? document.activeElement.dataset.name : null;
    place.replaceChildren(...(chart.built.legend || []).map((entry) => entryOf(chart, entry)));
    if (focused !== null) [...place.children].find((child) => child.dataset.name === focused)?.focus();
  };

  const entryOf = (chart, entry) => {
    const made = element('button', { type: 'button', 'data-name': entry.name }, swatch(entry), entry.name);
    made.setAttribute('aria-pressed', String(!chart.hidden.has(entry.name)));
    made.addEventListener('click', () => {
      if (!chart.hidden.delete(entry.name)) chart.hidden.add(entry.name);
      chart.draw();
    });
    return made;
  };

  // A small picture of how the part is drawn.
  const swatch = ({ shape, colour }) => {
    const NS = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(NS, 'svg');
    const put = (name, attributes) => {
      const part = document.createElementNS(NS, name);
      for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
      svg.append(part);
    };
    for (const [key, value] of Object.entries({ width: 22, height: 12, 'aria-hidden': 'true' })) svg.setAttribute(key, value);
    const line = { x1: 1, x2: 21, y1: 6, y2: 6, stroke: colour, 'stroke-width': 2 };
    if (shape === 'line' || shape === 'both') put('line', line);
    if (shape === 'dashed') put('line', { ...line, 'stroke-dasharray': '5 3' });
    if (shape === 'dotted') put('line', { ...line, 'stroke-dasharray': '2 3' });
    if (shape === 'dot' || shape === 'both') put('circle', { cx: 11, cy: 6, r: 4, fill: colour });
    if (shape === 'ring') put('circle', { cx: 11, cy: 6, r: 4.5, fill: 'none', stroke: colour, 'stroke-width': 2 });
    if (shape === 'area') put('rect', { x: 2, y: 2, width: 18, height: 8, fill: colour, opacity: 0.3 });
    return svg;
  };
})();
