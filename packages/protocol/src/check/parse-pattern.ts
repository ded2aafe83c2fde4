/** Parser of regular expressions of ECMAScript, for `linear-pattern.ts`. */

/** Regular expression as a tree. */
export type Tree =
  | { readonly kind: 'character'; readonly matches: (point: number) => boolean }
  | { readonly kind: 'assertion'; readonly name: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Tree[] }
  | { readonly kind: 'repeat'; readonly part: Tree; readonly least: number; readonly most: number }

/** Maximum nesting of groups. */
const MAX_GROUPS = 200

/**
 * Returns the tree of a pattern.
 *
 * @throws {SyntaxError} when it is not a regular expression, or needs backtracking.
 */
export function parsePattern(source: string): Tree {
  const parser = new Parser(source)
  return parser.parse()
}

class Parser {
  readonly #source: string
  #index = 0
  #groups = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Tree {
    const tree = this.#choice()
    if (this.#index < this.#source.length) throw new SyntaxError('has an unmatched ")"')
    return tree
  }

  /** Returns whether the text comes next, and skips it. */
  #take(text: string): boolean {
    const found = this.#source.startsWith(text, this.#index)
    if (found) this.#index += text.length
    return found
  }

  /** Returns the match of a sticky expression, and skips it. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#index
    const found = expression.exec(this.#source)
    if (found === null) return undefined
    this.#index = expression.lastIndex
    return found
  }

  #choice(): Tree {
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'choice', parts }
  }

  #sequence(): Tree {
    const parts: Tree[] = []
    while (this.#index < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#index))) {
      parts.push(this.#repeat(this.#term()))
    }
    return { kind: 'sequence', parts }
  }

  #repeat(part: Tree): Tree {
    const found = this.#match(/(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y)
    if (found === undefined) return part
    if (part.kind === 'assertion') throw new SyntaxError('repeats an assertion')
    const [text, least, comma, most] = found
    const range = RANGES[text.charAt(0)] ?? [
      Number(least),
      comma === undefined ? Number(least) : most === '' ? Infinity : Number(most),
    ]
    const [from, to] = range
    if (from > to) throw new SyntaxError('has numbers out of order in {}')
    return { kind: 'repeat', part, least: from, most: to }
  }

  #term(): Tree {
    if (this.#take('^')) return { kind: 'assertion', name: 'start' }
    if (this.#take('$')) return { kind: 'assertion', name: 'end' }
    if (this.#take('(')) return this.#group()
    if (this.#take('[')) return this.#class()
    if (this.#take('\\')) return this.#escape()
    if (this.#take('.')) return toClass('.')
    const nothing = this.#match(/[*+?]|\{\d+(?:,\d*)?\}/y)
    if (nothing !== undefined) throw new SyntaxError('has nothing to repeat')
    return this.#literal()
  }

  #literal(): Tree {
    const point = this.#source.codePointAt(this.#index) ?? 0
    this.#index += point > 0xffff ? 2 : 1
    return toLiteral(point)
  }

  #group(): Tree {
    if (this.#match(/\?<?[=!]/y)) throw new SyntaxError('uses lookahead or lookbehind')
    if (
      !this.#match(/\?:|\?<[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*>/uy) &&
      this.#take('?')
    ) {
      throw new SyntaxError('uses a group that starts with (?, which is not supported')
    }
    this.#groups += 1
    if (this.#groups > MAX_GROUPS) throw new SyntaxError(`nests more than ${MAX_GROUPS} groups`)
    const tree = this.#choice()
    if (!this.#take(')')) throw new SyntaxError('has an unterminated group')
    this.#groups -= 1
    return tree
  }

  #class(): Tree {
    const found = this.#match(/(\^?)((?:[^\]\\]|\\[^])*)\]/y)
    if (found === undefined) throw new SyntaxError('has an unterminated class of characters')
    const [, negation, content = ''] = found
    return toClass(`[${negation}${toUnicodeClass(content)}]`)
  }

  #escape(): Tree {
    if (this.#take('b')) return { kind: 'assertion', name: 'boundary' }
    if (this.#take('B')) return { kind: 'assertion', name: 'inside' }
    if (this.#match(/[1-9k]/y)) throw new SyntaxError('refers to a group')
    const pair = this.#match(/u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})/iy)
    if (pair !== undefined) {
      const [high, low] = pair.slice(1).map((digits) => parseInt(digits, 16))
      return toLiteral(String.fromCharCode(high ?? 0, low ?? 0).codePointAt(0) ?? 0)
    }
    const found = this.#match(ESCAPE)
    if (found !== undefined) return toClass(`\\${found[0]}`)
    if (this.#match(/(?=[\da-z])/iy) || this.#index === this.#source.length) {
      throw new SyntaxError(`has the unknown escape \\${this.#source.charAt(this.#index)}`)
    }
    return this.#literal()
  }
}

const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Infinity],
  '+': [1, Infinity],
  '?': [0, 1],
}

/** Escapes of characters and classes that mean the same in every position. */
const ESCAPE = /[dDwWsSfnrtv]|0(?!\d)|c[a-z]|x[\da-f]{2}|u[\da-f]{4}|u\{[\da-f]+\}|[pP]\{[^}]*\}/iy

/** Returns a class with the escapes of the flag `u`. */
function toUnicodeClass(content: string): string {
  return content
    .replaceAll(/\\([^\w\s^$\\.*+?()[\]{}|/-])/gu, '$1')
    .replaceAll('\\_', '_')
    .replaceAll(/(\\[dDwWsS])-(?!$)/g, String.raw`$1\-`)
    .replaceAll(/-(\\[dDwWsS])/g, String.raw`\-$1`)
    .replaceAll(/\\\\-/g, String.raw`\-`)
}

function toLiteral(wanted: number): Tree {
  return { kind: 'character', matches: (point) => point === wanted }
}

/** Maximum number of characters beyond ASCII whose result a class stores. */
const MAX_STORED = 5_000

/** Returns the characters that a pattern of one character matches, as judged by the engine of JavaScript. */
function toClass(source: string): Tree {
  const expression = new RegExp(`^(?:${source})$`, 'u')
  const known = new Map<number, boolean>()
  return {
    kind: 'character',
    matches(point) {
      const before = known.get(point)
      if (before !== undefined) return before
      const result = expression.test(String.fromCodePoint(point))
      if (known.size < MAX_STORED) known.set(point, result)
      return result
    },
  }
}
