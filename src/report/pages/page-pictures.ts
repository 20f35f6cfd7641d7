/** Pictures and readings as parts of the page: the drawing, its legend and its figures as text beside it. */
import { told } from '../../language/language.ts';
import { linesChart, look, readingChart, scatterCharts } from '../charts/charts.ts';
import type { Draw } from '../charts/svg.ts';
import { number } from '../number.ts';
import type { Lines, Picture, Place, ReadingSeries, Scatter } from '../pictures/picture.ts';
import { safeText } from '../safe-text.ts';

export function pictureFigure(picture: Picture, draw: Draw): string {
  return picture.kind === 'scatter' ? scatterFigure(picture, draw) : linesFigure(picture, draw);
}

function scatterFigure(picture: Scatter, draw: Draw): string {
  const charts = scatterCharts(picture);
  const panels = picture.panels.map((panel, i) => {
    const shown =
      panel.x.length < panel.total
        ? told(
            `, ${number(panel.x.length)} of ${number(panel.total)} drawn`,
            `，绘出 ${number(panel.total)} 个中的 ${number(panel.x.length)} 个`,
          )
        : '';
    const name = picture.panels.length > 1 ? `<b>${safeText(panel.label)}</b>` : '';
    const heard = `${picture.title}. ${panel.label}: ${panel.note}`;
    return `<div class="panel"><p>${name}<span>${safeText(panel.note + shown)}</span></p>${draw(charts[i], heard)}</div>`;
  });
  const pair = panels.length > 1 ? ' class="pair"' : '';
  return `<figure${pair}><h3>${safeText(picture.title)}</h3><div class="panels">${panels.join('')}</div><figcaption>${safeText(picture.caption)}</figcaption></figure>`;
}

function linesFigure(picture: Lines, draw: Draw): string {
  const legend = picture.lines.map((line, i) => {
    const { colour, dash } = look(i, line.reference === true);
    const dashes = dash === 'solid' ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
    const last = line.y[line.y.length - 1];
    return `<li><svg viewBox="0 0 30 10" aria-hidden="true"><path d="M0 5H30" fill="none" stroke-width="2.5" stroke="${colour}"${dashes}/></svg>${safeText(line.name)} <span class="kicker">${safeText(number(last))}</span></li>`;
  });
  const heard = `${picture.title}: ${picture.lines.map((line) => `${line.name} ${number(line.y[0])} … ${number(line.y[line.y.length - 1])}`).join(', ')}`;
  return `<figure><h3>${safeText(picture.title)}</h3><ul class="legend">${legend.join('')}</ul>${draw(linesChart(picture), heard)}<figcaption>${safeText(picture.caption)}</figcaption></figure>`;
}

const most = 6;

export function readingCards(readings: readonly ReadingSeries[], draw: Draw): string {
  if (readings.length === 0) return '';
  const cards = readings.map((reading) => {
    const values = reading.lines.map(({ latest }) => latest);
    const same = values.length > most || new Set(values.map((value) => number(value))).size === 1;
    const spread = `${number(Math.min(...values))} … ${number(Math.max(...values))}`;
    const text =
      values.length === 1 || new Set(values.map((value) => number(value))).size === 1
        ? number(values[0])
        : same
          ? spread
          : values.map((value) => number(value)).join(', ');
    const place = reading.place ? `<span class="place ${reading.place}">${placeWord(reading.place)}</span>` : '';
    const usual = reading.band ? `${bandText(reading.band)} ` : '';
    const drawn = reading.lines.length > most ? { ...reading, lines: reading.lines.slice(0, most) } : reading;
    const heard = `${reading.label}: ${reading.lines.map((line) => `${line.policy} ${number(line.y[0])} … ${number(line.latest)}`).join(', ')}`;
    return `<div class="reading"><h3>${safeText(reading.label)}</h3><p class="v">${safeText(text)} ${safeText(reading.unit)}</p><p>${usual ? `${told('usual:', '通常：')} ${safeText(usual)}` : ''}${place}</p>${draw(readingChart(drawn), heard)}<p>${safeText(reading.explanation)}</p></div>`;
  });
  const policies = readings[0].lines.map(({ policy }) => policy);
  const names = policies.slice(0, most).join(', ');
  const who =
    policies.length > 1
      ? told(
          ` Values are those of ${names}${policies.length > most ? ' and others' : ''}, in that order, in the last iteration that was kept.`,
          `数值依次属于 ${names}${policies.length > most ? ' 等' : ''}，取自所保留的最后一次迭代。`,
        )
      : told(' Values are those of the last iteration that was kept.', '数值取自所保留的最后一次迭代。');
  const lead = told(
    'Recomputed from the rows. A band is where healthy runs usually are; it informs, and being outside of it is no fault by itself.',
    '由数据行重新计算。范围是健康训练通常所在之处；超出范围本身不算故障。',
  );
  return `<section aria-labelledby="readings"><h2 id="readings">${told('The readings and their usual bands', '各项读数及其常见范围')}</h2><p>${lead}${safeText(who)}</p><div class="readings">${cards.join('')}</div></section>`;
}

const placeWord = (place: Place) =>
  told(
    place === 'inside' ? 'in the band' : `${place} the band`,
    { inside: '在范围内', below: '低于范围', above: '高于范围' }[place],
  );

export function bandText([low, high]: readonly [number | null, number | null]): string {
  if (low === Number.MIN_VALUE) return told('above 0', '大于 0');
  if (low === null) return told(`at most ${high}`, `至多 ${high}`);
  return high === null ? told(`at least ${low}`, `至少 ${low}`) : told(`${low} to ${high}`, `${low} 到 ${high}`);
}
