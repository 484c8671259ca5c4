'use strict';

// Tables that sort by a click on a heading, and can be taken along.
(() => {
  const { element } = fizeau;

  fizeau.addTables = () => {
    for (const table of document.querySelectorAll('table.sortable')) {
      const heads = headsOf(table);
      heads.forEach((head, column) => makeSortable(table, heads, head, column));
    }
    for (const tools of document.querySelectorAll('.table-tools[data-for]')) addTools(tools);
  };

  const headsOf = (table) => [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells || [])];
  const rowsOf = (table) => [...table.tBodies].flatMap((body) => [...body.rows]);

  const makeSortable = (table, heads, head, column) => {
    const button = element('button', { type: 'button' });
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute('aria-sort', 'none');
    button.addEventListener('click', () => {
      const order = head.getAttribute('aria-sort') === 'ascending' ? 'descending' : 'ascending';
      for (const other of heads) other.setAttribute('aria-sort', other === head ? order : 'none');
      sort(table, column, order === 'ascending' ? 1 : -1);
    });
  };

  // What is not known goes last in both directions.
  const sort = (table, column, sign) => {
    const body = table.tBodies[0];
    if (!body) return;
    const keyed = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return sign * compare(a.key, b.key);
    });
    body.append(...keyed.map(({ row }) => row));
  };

  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), 'en', { numeric: true });
  };

  const keyOf = (cell) => {
    if (!cell) return null;
    const value = cell.dataset.value;
    if (value !== undefined && value !== '' && Number.isFinite(Number(value))) return Number(value);
    const text = textOf(cell);
    return text === '' || text === '-' || text === '–' || text === '—' ? null : text;
  };

  const textOf = (cell) => cell.textContent.replace(/\s+/g, ' ').trim();
  // Numbers with all their digits where the page carries them.
  const valueOf = (cell) => (cell.dataset.value !== undefined ? cell.dataset.value : textOf(cell));

  const addTools = (tools) => {
    const table = [...document.querySelectorAll('table[data-name]')].find((one) => one.dataset.name === tools.dataset.for);
    if (!table) return;
    const said = element('span', { class: 'said', role: 'status' });
    const button = (text, act) => {
      const made = element('button', { type: 'button' }, text);
      made.addEventListener('click', act);
      return made;
    };
    const copy = button('Copy', async () => {
      said.textContent = (await copied(fizeau.table(table, '\t'))) ? 'Copied.' : 'The browser did not let it be copied.';
    });
    const csv = button('Download CSV', () => {
      const name = `${table.dataset.name}.csv`;
      fizeau.download(name, new Blob([fizeau.table(table, ',')], { type: 'text/csv;charset=utf-8' }));
      said.textContent = `Saved as ${name}.`;
    });
    tools.append(copy, csv, said);
  };

  // What stands behind a number for whoever reads has columns of its own in a file: what it is, and what it is of.
  const MARKS = [
    { sign: '*', head: 'greatest of fewer than 100 values', of: (heads) => heads.join('; ') },
    { sign: '!', head: 'saturated', of: (heads) => (heads.length > 0 ? 'yes' : '') },
  ];

  const hasMark = (cell, sign) => cell.dataset.value !== undefined && cell.firstChild.textContent.trim().endsWith(sign);

  // A column for each mark that some row has: its head, then a field a row.
  const marksOf = (heads, rows) =>
    MARKS.map(({ sign, head, of }) => [
      head,
      ...rows.map((row) => of(heads.filter((_, column) => row.cells[column] && hasMark(row.cells[column], sign)))),
    ]).filter(([, ...fields]) => fields.some((field) => field !== ''));

  // A table as lines of fields: RFC 4180 with commas, plain with tabs.
  fizeau.table = (table, separator) => {
    const [heads, rows] = [headsOf(table).map(textOf), rowsOf(table)];
    const marks = marksOf(heads, rows);
    const lines = [heads, ...rows.map(fieldsOf)].map((line, nth) => [...line, ...marks.map((column) => column[nth])]);
    const field = separator === ',' ? quoted : (text) => text.replace(/[\t\r\n]+/g, ' ');
    return lines.map((line) => line.map(field).join(separator) + '\n').join('');
  };

  // A cell over several columns is one field and empty ones.
  const fieldsOf = (row) =>
    [...row.cells].flatMap((cell) => [valueOf(cell), ...Array(Math.max(0, cell.colSpan - 1)).fill('')]);

  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copiedByHand(text);
    }
  };

  // Where the clipboard is closed to pages that come from a file.
  const copiedByHand = (text) => {
    const area = element('textarea', { readonly: '', class: 'aloud' });
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  };
})();
