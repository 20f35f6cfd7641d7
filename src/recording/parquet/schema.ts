/** Which columns a Parquet file has and how their levels are to be read. A definition level says how deep a value exists; for lists, an empty one has a level too. */

import type { SchemaElement } from 'hyparquet';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Column } from '../column.ts';

export type Physical = 'BOOLEAN' | 'INT32' | 'INT64' | 'FLOAT' | 'DOUBLE' | 'FLOAT16' | 'BYTE_ARRAY';

export interface Leaf {
  name: string;
  path: string[];
  /** The position of its chunk in every row group. */
  index: number;
  kind: Column['kind'];
  physical: Physical;
  bits: 8 | 16 | 32 | 64;
  signed: boolean;
  ragged: boolean;
  nullable: boolean;
  maxDefinition: number;
  /** From this definition level on, an entry of a list is an element; below it the list is empty or null. */
  elementDefinition: number;
}

export interface Schema {
  leaves: Leaf[];
  unreadable: { name: string; why: string }[];
  /** How many column chunks a row group has, the unreadable ones included. */
  chunks: number;
}

interface Node {
  element: SchemaElement;
  children: Node[];
}

export function readSchema(elements: readonly SchemaElement[]): Schema {
  let at = 0;
  const take = (depth: number): Node => {
    const element = elements[at++];
    if (element === undefined || depth > 64 || typeof element.name !== 'string') {
      throw new BadInput(
        told(
          'the schema is damaged: it names fewer columns than it counts, or nests them too deep',
          '模式已损坏：列名少于所计的列，或嵌套过深',
        ),
      );
    }
    const count = element.type === undefined ? (element.num_children ?? 0) : 0;
    const children: Node[] = [];
    for (let child = 0; child < count; child++) children.push(take(depth + 1));
    return { element, children };
  };
  const root = take(0);
  if (at !== elements.length) {
    throw new BadInput(
      told(
        `the schema is damaged: it has ${elements.length} entries and uses ${at}`,
        `模式已损坏：有 ${elements.length} 项，只用到 ${at}`,
      ),
    );
  }

  const schema: Schema = { leaves: [], unreadable: [], chunks: 0 };
  const seen = new Set<string>();
  for (const node of root.children) {
    const name = node.element.name;
    if (seen.has(name))
      throw new BadInput(
        told('the column appears twice; give every column its own name', '该列出现了两次；请让每列有自己的名称'),
        { column: name },
      );
    seen.add(name);
    const leaf = leafOf(node, schema.chunks);
    if (typeof leaf === 'string') schema.unreadable.push({ name, why: leaf });
    else schema.leaves.push(leaf);
    schema.chunks += countLeaves(node);
  }
  return schema;
}

function countLeaves(node: Node): number {
  if (node.element.type !== undefined) return 1;
  return node.children.reduce((sum, child) => sum + countLeaves(child), 0);
}

/** The leaf, or the reason why this column has no form here. */
function leafOf(node: Node, index: number): Leaf | string {
  const { element, children } = node;
  const optional = element.repetition_type === 'OPTIONAL' ? 1 : 0;
  if (element.type !== undefined) {
    if (element.repetition_type === 'REPEATED') return listLeaf([element.name], element, 1, 0, index, false);
    const type = typeOf(element);
    if (typeof type === 'string') return type;
    return {
      name: element.name,
      path: [element.name],
      index,
      ...type,
      ragged: false,
      nullable: optional === 1,
      maxDefinition: optional,
      elementDefinition: 0,
    };
  }
  const isList = element.converted_type === 'LIST' || element.logical_type?.type === 'LIST';
  const repeated = children[0];
  if (!isList || children.length !== 1 || repeated?.element.repetition_type !== 'REPEATED') {
    return told(
      'it is a struct or a map; only numbers, booleans, text and lists of numbers or booleans are read',
      '它是结构或映射；只读取数字、布尔值、文本，以及数字或布尔值的列表',
    );
  }
  const path = [element.name, repeated.element.name];
  if (repeated.element.type !== undefined)
    return listLeaf(path, repeated.element, optional + 1, 0, index, optional === 1);
  const inner = repeated.children[0];
  if (
    repeated.children.length !== 1 ||
    inner?.element.type === undefined ||
    inner.element.repetition_type === 'REPEATED'
  ) {
    return told(
      'it is a list of structs or of lists; only lists of numbers or booleans are read',
      '它是结构或列表的列表；只读取数字或布尔值的列表',
    );
  }
  const nullElement = inner.element.repetition_type === 'OPTIONAL' ? 1 : 0;
  path.push(inner.element.name);
  return listLeaf(path, inner.element, optional + 1, nullElement, index, optional + nullElement > 0);
}

function listLeaf(
  path: string[],
  element: SchemaElement,
  elementDefinition: number,
  nullElement: number,
  index: number,
  nullable: boolean,
): Leaf | string {
  const type = typeOf(element);
  if (typeof type === 'string') return type;
  if (type.kind === 'text')
    return told(
      'it is a list of texts; only lists of numbers or booleans are read',
      '它是文本的列表；只读取数字或布尔值的列表',
    );
  const maxDefinition = elementDefinition + nullElement;
  return { name: path[0]!, path, index, ...type, ragged: true, nullable, maxDefinition, elementDefinition };
}

type LeafType = Pick<Leaf, 'kind' | 'physical' | 'bits' | 'signed'>;

const INTEGER = /^(U?)INT_(8|16|32|64)$/;

function typeOf({ type, type_length, converted_type, logical_type }: SchemaElement): LeafType | string {
  const logical = logical_type?.type;
  if (type === 'BOOLEAN') return { kind: 'bool', physical: 'BOOLEAN', bits: 8, signed: false };
  if (type === 'FLOAT') return { kind: 'float', physical: 'FLOAT', bits: 32, signed: true };
  if (type === 'DOUBLE') return { kind: 'float', physical: 'DOUBLE', bits: 64, signed: true };
  if (type === 'FIXED_LEN_BYTE_ARRAY' && type_length === 2 && logical === 'FLOAT16') {
    return { kind: 'float', physical: 'FLOAT16', bits: 16, signed: true };
  }
  if (type === 'BYTE_ARRAY') {
    const text =
      ['UTF8', 'ENUM', 'JSON'].includes(converted_type ?? '') || ['STRING', 'ENUM', 'JSON'].includes(logical ?? '');
    if (text) return { kind: 'text', physical: 'BYTE_ARRAY', bits: 8, signed: false };
    return told(
      'it holds raw bytes; only numbers, booleans, text and lists of numbers or booleans are read',
      '它是原始字节；只读取数字、布尔值、文本，以及数字或布尔值的列表',
    );
  }
  if (type === 'INT32' || type === 'INT64') {
    const width = type === 'INT32' ? 32 : 64;
    const whole = INTEGER.exec(converted_type ?? '');
    if (whole) return integer(type, Number(whole[2]), whole[1] === '', width);
    if (logical_type?.type === 'INTEGER') return integer(type, logical_type.bitWidth, logical_type.isSigned, width);
    if (converted_type === undefined && logical === undefined) return integer(type, width, true, width);
  }
  return told(
    `it is of type ${logical ?? converted_type ?? type}; only numbers, booleans, text and lists of numbers or booleans are read`,
    `它的类型是 ${logical ?? converted_type ?? type}；只读取数字、布尔值、文本，以及数字或布尔值的列表`,
  );
}

function integer(physical: 'INT32' | 'INT64', bits: number, signed: boolean, width: number): LeafType | string {
  const fits = physical === 'INT32' ? bits === 8 || bits === 16 || bits === 32 : bits === 64;
  if (!fits)
    return told(`it claims integers of ${bits} bits stored in ${width}`, `它声称用 ${width} 位存 ${bits} 位整数`);
  return { kind: 'int', physical, bits: bits as Leaf['bits'], signed };
}
