/**
 * What a game says when it is asked for something it does not have: a name, a setting, a player. Any other error of a game is a fault of the program.
 *
 * @example
 * try {
 *   makeGame('chess');
 * } catch (error) {
 *   if (error instanceof GameRefusal) console.error(error.message);
 * }
 */
export class GameRefusal extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'GameRefusal';
  }
}
