'use strict';

// Labels beside points that do not lie on each other: each goes to the first side with room, or away.
(() => {
  const HEIGHT = 14;
  const CHARACTER = 7;
  // From the middle of a point; a datum may ask for more with `apart`.
  const APART = 7;
  const SIDES = ['top', 'right', 'bottom', 'left'];

  // Where each of `labels` ({ at: [x, y] in pixels, text, apart }) goes: a side, or none. The boxes `inTheWay` are kept free, and
  // no label leaves `area` ({ x, y, width, height }).
  fizeau.sides = (labels, inTheWay, area) => {
    const taken = [...inTheWay];
    return labels.map(({ at, text, apart }) => {
      const fits = (side) => {
        const box = boxOf(at, text, apart, side);
        return isInside(box, area) && !taken.some((other) => overlaps(box, other));
      };
      const side = SIDES.find(fits);
      if (side) taken.push(boxOf(at, text, apart, side));
      return side;
    });
  };

  const boxOf = ([x, y], text, apart, side) => {
    const width = text.length * CHARACTER + 2;
    const left = { top: x - width / 2, bottom: x - width / 2, right: x + apart, left: x - apart - width }[side];
    const top = { top: y - apart - HEIGHT, bottom: y + apart, right: y - HEIGHT / 2, left: y - HEIGHT / 2 }[side];
    return { left, right: left + width, top, bottom: top + HEIGHT };
  };

  const boxAround = (x, y) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 });

  // What the goals' lines say stands at the left, above each.
  const goalsOf = (instance, series, area) =>
    series.flatMap((one, seriesIndex) =>
      (one.markLine?.data || []).flatMap(({ name, yAxis }) => {
        const y = yAxis === undefined ? NaN : instance.convertToPixel({ seriesIndex }, [one.data[0]?.value?.[0], yAxis])?.[1];
        return Number.isFinite(y) ? [{ left: area.x, right: area.x + 18 + name.length * CHARACTER, top: y - 18, bottom: y + 1 }] : [];
      }),
    );

  const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const isInside = (box, area) =>
    box.left >= area.x && box.right <= area.x + area.width && box.top >= area.y && box.bottom <= area.y + area.height;

  // Puts the labels of a drawn chart: of every point that has one, in every series that is shown.
  fizeau.placeLabels = (instance, series) => {
    const found = [];
    series.forEach((one, seriesIndex) => {
      (one.data || []).forEach((item, dataIndex) => {
        if (!item || !item.tip) return;
        const at = instance.convertToPixel({ seriesIndex }, item.value);
        if (at && at.every(Number.isFinite)) found.push({ at, text: item.text || '', apart: item.apart || APART, seriesIndex, dataIndex });
      });
    });
    const labels = found.filter((point) => point.text);
    if (labels.length === 0) return;
    const area = areaOf(instance);
    const inTheWay = [...found.map(({ at: [x, y] }) => boxAround(x, y)), ...goalsOf(instance, series, area)];
    const sides = fizeau.sides(labels, inTheWay, area);
    const sideOf = new Map(labels.map((label, index) => [`${label.seriesIndex} ${label.dataIndex}`, sides[index]]));
    const placed = series.map((one, seriesIndex) => ({
      id: one.id,
      data: (one.data || []).map((item, dataIndex) => {
        if (!item || !item.text) return item;
        const side = sideOf.get(`${seriesIndex} ${dataIndex}`);
        return { ...item, label: { ...item.label, show: Boolean(side), position: side || 'top', distance: (item.apart || APART) - 4, formatter: () => item.text } };
      }),
    }));
    instance.setOption({ series: placed });
  };

  // The rectangle of the plot itself; a little of the room above it may be used.
  const areaOf = (instance) => {
    const { x, y, width, height } = instance.getModel().getComponent('grid', 0).coordinateSystem.getRect();
    return { x: x - 12, y: y - 16, width: width + 28, height: height + 16 };
  };
})();
