/** One frame of a game's world, as SVG or as text for a terminal. It shows the world as it stands, so ask after every reset and step. */

import { told } from '../language/language.ts';
import { City } from './city/game.ts';
import { cityPicture, cityText, sideColours } from './city/picture.ts';
import type { Game } from './game.ts';
import { GridGame } from './grid/grid.ts';
import { gridPicture, gridText, seatColours } from './grid/picture.ts';
import { GameRefusal } from './refusal.ts';
import type { Picture } from './svg.ts';

export { animation, filmStrip, type Picture } from './svg.ts';

/** Whether `frame` and `textFrame` can show the game. */
export function hasPictures(game: Game): boolean {
  return game instanceof GridGame || game instanceof City;
}

/** The picture of a world with its size, for film strips and players. A player that counts the steps itself leaves the count of the picture out. */
export function framePicture(game: Game, world: number, counted = true): Picture {
  if (game instanceof GridGame) return gridPicture(game, world, counted);
  if (game instanceof City) return cityPicture(game, world);
  throw new GameRefusal(
    told(
      `${game.name} has no pictures; stag-hunt, snowdrift, coin-game, cleanup and city have.`,
      `${game.name} 没有图像；stag-hunt、snowdrift、coin-game、cleanup 和 city 有。`,
    ),
  );
}

/** What a seat is drawn in. */
export function seatColour(game: Game, seat: number): string {
  return game instanceof City ? sideColours[seat % 2] : seatColours[seat % seatColours.length];
}

/** The picture of a world as SVG text. */
export function frame(game: Game, world: number): string {
  return framePicture(game, world).svg;
}

/** The world in letters, a line each row. */
export function textFrame(game: Game, world: number): string {
  if (game instanceof GridGame) return gridText(game, world);
  if (game instanceof City) return cityText(game, world);
  throw new GameRefusal(
    told(
      `${game.name} has no pictures; stag-hunt, snowdrift, coin-game, cleanup and city have.`,
      `${game.name} 没有图像；stag-hunt、snowdrift、coin-game、cleanup 和 city 有。`,
    ),
  );
}
