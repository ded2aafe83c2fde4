/**
 * Finds what a condition of a request reads. The functions that it can use have a bounded cost (RUNS-CO3). No I/O.
 */
import { shortText, unknownName } from '@tutti/protocol/internal'

import type { Condition } from '@tutti/ensemble'
import type { ASTNode } from '@marcbachmann/cel-js'

/** Functions whose cost is linear in the size of their values. */
const FUNCTIONS = ['has', 'size', 'int', 'double', 'string', 'bool']

/** Methods whose cost is linear in the size of their values. */
const METHODS = ['size', 'startsWith', 'endsWith', 'contains', 'lowerAscii', 'upperAscii', 'trim']

/** Methods that evaluate an expression for each item of a list. */
const ITERATIONS = ['exists', 'all', 'exists_one', 'filter']

/** Names of the variables whose fields are checked. */
const VARIABLES = ['inputs', 'outputs']

/** Finds what an expression reads, and refuses what it may not contain. */
export class ConditionReader {
  readonly outputs = new Set<string>()
  readonly inputs = new Set<string>()
  /** Inputs that the expression may lack. */
  readonly optional = new Set<string>()
  readonly #names: ReadonlySet<string>
  /** Variables that can have any value. */
  readonly #values: readonly string[]
  /** Name of the item in the current iteration. */
  #item: string | undefined

  constructor(names: ReadonlySet<string>, values: readonly string[] = []) {
    this.#names = names
    this.#values = values
  }

  /** Returns the names of the inputs that the expression reads. */
  readInputs(): NonNullable<Condition['inputs']> {
    const required = [...this.inputs].filter((name) => !this.optional.has(name))
    return { required, optional: [...this.optional] }
  }

  /** @throws {TypeError} for a name, a function or an iteration that a condition cannot have. */
  read(node: ASTNode): void {
    switch (node.op) {
      case 'value':
        return
      case 'id':
        this.#readName(node.args)
        return
      case '.':
      case '.?':
        this.#readAccess(node.args[0], node.args[1])
        return
      case '[]':
      case '[?]':
        this.#readIndex(...node.args)
        return
      case 'call':
        this.#readCall(...node.args)
        return
      case 'rcall':
        this.#readMethod(...node.args)
        return
      case 'in':
        this.#readIn(...node.args)
        return
      case '!_':
      case '-_':
        this.read(node.args)
        return
      case 'map':
        for (const part of node.args.flat()) this.read(part)
        return
      default:
        for (const part of node.args) this.read(part)
    }
  }

  #readName(name: string): void {
    if (name === this.#item || this.#values.includes(name)) return
    if (VARIABLES.includes(name)) {
      throw new TypeError(`${name} must be followed by a name, such as ${name}.name`)
    }
    const known = this.#values.length === 0 ? 'outputs.TASK' : this.#values.join(', ')
    throw new TypeError(
      `it has an unknown name "${shortText(name)}": conditions read inputs.NAME and ${known}`,
    )
  }

  #readAccess(base: ASTNode, name: string): void {
    if (!this.#isNamed(base)) {
      this.read(base)
      return
    }
    if (base.args === 'inputs') this.inputs.add(name)
    else if (this.#names.has(name)) this.outputs.add(name)
    else throw new UnknownTaskError(name, this.#names)
  }

  #readIndex(base: ASTNode, index: ASTNode): void {
    if (this.#isNamed(base)) {
      if (index.op === 'value' && typeof index.args === 'string') {
        this.#readAccess(base, index.args)
        return
      }
      throw new TypeError(`the name in ${base.args}[…] must be a text in quotes`)
    }
    this.read(base)
    this.read(index)
  }

  /** Whether the fields of a value are inputs or tasks. */
  #isNamed(base: ASTNode): base is ASTNode & { readonly op: 'id'; readonly args: string } {
    if (base.op !== 'id' || this.#values.includes(base.args)) return false
    return VARIABLES.includes(base.args)
  }

  #readCall(name: string, parts: readonly ASTNode[]): void {
    if (!FUNCTIONS.includes(name)) throw unknownFunction(name, FUNCTIONS)
    for (const part of parts) {
      const isInput = part.op === '.' && part.args[0].op === 'id' && part.args[0].args === 'inputs'
      if (name === 'has' && isInput) this.optional.add(part.args[1])
      this.read(part)
    }
  }

  #readMethod(name: string, receiver: ASTNode, parts: readonly ASTNode[]): void {
    this.read(receiver)
    const isIteration = ITERATIONS.includes(name)
    if (!isIteration && !METHODS.includes(name)) {
      throw unknownFunction(name, [...METHODS, ...ITERATIONS])
    }
    const [item, ...rest] = parts
    if (!isIteration || item?.op !== 'id') {
      for (const part of parts) this.read(part)
      return
    }
    if (this.#item !== undefined) throw new TypeError(`${name} cannot be inside another iteration`)
    if ([...VARIABLES, ...this.#values].includes(item.args))
      throw new TypeError(`an item cannot have the name ${item.args}`)
    this.#item = item.args
    for (const part of rest) this.read(part)
    this.#item = undefined
  }

  #readIn(left: ASTNode, right: ASTNode): void {
    if (right.op !== 'id' || right.args !== 'inputs') {
      this.read(left)
      this.read(right)
    } else if (left.op === 'value' && typeof left.args === 'string') {
      this.inputs.add(left.args)
      this.optional.add(left.args)
    } else throw new TypeError('the name in … in inputs must be a text in quotes')
  }
}

/** Describes an unknown task when it is reported, because that costs a search for similar names. */
export class UnknownTaskError extends TypeError {
  readonly explain: () => string

  constructor(name: string, names: ReadonlySet<string>) {
    super('it reads an unknown task')
    this.explain = () => unknownName('task', name, [...names])
  }
}

function unknownFunction(name: string, known: readonly string[]): TypeError {
  return new TypeError(
    `it cannot use the function "${shortText(name)}". Available: [${known.join(', ')}]`,
  )
}
