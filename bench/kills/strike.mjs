/**
 * Loaded into a program before it begins (NODE_OPTIONS=--import): counts every call that changes the disk below a folder, in all threads, and strikes at the
 * n-th. A kill is a real SIGKILL, and nothing of the program runs after it.
 *
 *   STRIKE_UNDER  the folder            STRIKE_TALLY  a file outside of it: one letter for each call
 *   STRIKE_AT     which call, from 1    STRIKE_HOW    before, after or torn (killed there), full (no room from there on), power (as before, and what was not synced is lost)
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, resolve, sep } from 'node:path';

const { STRIKE_UNDER: under = '', STRIKE_TALLY: tally = '', STRIKE_HOW: how = 'before' } = process.env;
const at = Number(process.env.STRIKE_AT ?? 0);
const plain = { ...fs };
const record = plain.openSync(tally, 'a');
/** Paths of open files, those that were written and not synced, and by folder what undoes the changes of names that were not. */
const files = new Map();
const unsynced = new Set();
const undo = new Map();
let full = false;
let backups = 0;

const isOurs = (path) => path !== undefined && (path === under || path.startsWith(under + sep));
const pathOf = (given) => (typeof given === 'string' ? resolve(given) : undefined);

function die() {
  if (how === 'power') {
    for (const steps of undo.values()) for (const step of steps.reverse()) step();
    for (const path of unsynced) {
      if (plain.existsSync(path)) plain.truncateSync(path, plain.statSync(path).size >> 1);
    }
  }
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Which call of the whole program this is. */
function count(letter) {
  plain.writeSync(record, letter);
  return plain.fstatSync(record).size;
}

function noRoom(call) {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${call}`), {
    code: 'ENOSPC',
    syscall: call,
    errno: -28,
  });
}

/** What happens at one call: null lets it be, otherwise it is done or not done by what is returned. */
function meet(letter, call) {
  const now = count(letter);
  if (now === at && (how === 'before' || how === 'power')) die();
  if (now === at && how === 'full') full = true;
  // Names can be taken away on a full disk, and changed.
  if (full && !'ru'.includes(letter)) throw noRoom(call);
  return now === at && (how === 'after' || how === 'torn');
}

function keepName(path, restore) {
  const steps = undo.get(dirname(path)) ?? [];
  undo.set(dirname(path), [...steps, restore]);
}

function backup(path) {
  if (how !== 'power' || !plain.existsSync(path) || plain.statSync(path).isDirectory()) return undefined;
  const copy = `${tally}.${process.pid}.${backups++}`;
  plain.linkSync(path, copy);
  return copy;
}

const onRename = (from, to) => {
  const copy = backup(to);
  keepName(to, () => {
    if (copy) plain.renameSync(copy, to);
    else if (plain.existsSync(to)) plain.renameSync(to, from);
  });
  for (const path of [...unsynced]) {
    if (path !== from && !path.startsWith(from + sep)) continue;
    unsynced.delete(path);
    unsynced.add(to + path.slice(from.length));
  }
};
const onRemove = (path) => {
  const copy = backup(path);
  keepName(path, () => copy && !plain.existsSync(path) && plain.renameSync(copy, path));
  unsynced.delete(path);
};

const openSync = fs.openSync;
fs.openSync = (path, flags, ...rest) => {
  const place = pathOf(path);
  if (!isOurs(place)) return openSync(path, flags, ...rest);
  const writes = typeof flags === 'string' && /[wa]/.test(flags);
  const dies = writes && meet('o', 'open');
  const file = openSync(path, flags, ...rest);
  files.set(file, place);
  if (writes) unsynced.add(place);
  if (dies) die();
  return file;
};
const closeSync = fs.closeSync;
fs.closeSync = (file) => {
  files.delete(file);
  closeSync(file);
};
for (const name of ['writeSync', 'writevSync']) {
  const write = fs[name];
  fs[name] = (file, data, ...rest) => {
    const place = files.get(file);
    if (!isOurs(place)) return write(file, data, ...rest);
    const bytes = typeof data === 'string' ? Buffer.from(data) : Array.isArray(data) ? Buffer.concat(data) : data;
    unsynced.add(place);
    let dies = false;
    try {
      dies = meet('w', 'write');
    } catch (error) {
      // A disk that fills up takes what still fits.
      plain.writeSync(file, bytes, 0, bytes.length >> 1);
      throw error;
    }
    if (!dies) return write(file, data, ...rest);
    plain.writeSync(file, bytes, 0, how === 'torn' ? bytes.length >> 1 : bytes.length);
    return die();
  };
}
const fsync = fs.fsync;
fs.fsync = (file, done) => {
  const place = files.get(file);
  if (!isOurs(place)) return fsync(file, done);
  let dies = false;
  try {
    dies = meet('f', 'fsync');
  } catch (error) {
    return done(error);
  }
  fsync(file, (error) => {
    unsynced.delete(place);
    undo.delete(place);
    if (dies) die();
    done(error);
  });
};

/** Calls of one or two names. */
const named = { mkdir: 'm', rename: 'r', unlink: 'u', rm: 'u', rmdir: 'u', writeFile: 'w' };
for (const [name, letter] of Object.entries(named)) {
  const call = promises[name];
  promises[name] = async (...args) => {
    const place = pathOf(args[0]);
    if (!isOurs(place)) return call(...args);
    const dies = meet(letter, name);
    if (name === 'rename') onRename(place, resolve(args[1]));
    if (name === 'unlink') onRemove(place);
    if (name === 'mkdir') keepName(place, () => plain.rmSync(place, { recursive: true, force: true }));
    if (name === 'writeFile') unsynced.add(place);
    const result = await call(...args);
    if (dies) die();
    return result;
  };
}
syncBuiltinESMExports();
