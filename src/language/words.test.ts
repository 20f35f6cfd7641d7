import { describe, expect, it } from 'vitest';
import { inLanguage } from './language.ts';
import { figureName } from './words.ts';

describe('the names of figures', () => {
  it('are read in the language that is spoken, with whose they are', () => {
    expect(figureName('again_differs')).toBe('again differs');
    const chinese = (name: string) => inLanguage('zh', () => figureName(name));
    expect(chinese('disagreeing')).toBe('不符的行数');
    expect(chinese('player_1.head.not_moved')).toBe('player_1：输出头，没有移动');
    expect(chinese('policy 0: outer')).toBe('策略 0：外积');
    expect(chinese('something of a program')).toBe('something of a program');
  });
});
