/**
 * Parts of TypeBox's schema engine that other packages of Tutti use. They are exported from here so that there is only one
 * copy, which is bundled into this package. The declarations do not name the engine's types: compilers of users would
 * read a hundred more files.
 */
import { NextStack, Resolve, Stack, type XStack } from 'typebox/schema'

import { valueAt } from './json-pointer.ts'
import { isJsonObject } from './schema-node.ts'

/** Schema that a reference leads to, with the scope there. */
export interface ReferenceTarget {
  /** Undefined when the reference has no target. */
  readonly schema: unknown
  readonly scope: ReferenceScope
}

/** A schema document, and what its references can lead to. */
interface Document {
  readonly root: object | boolean
  /** Schemas by the text of their `$ref`. */
  readonly references: Readonly<Record<string, object | boolean>>
  readonly isPlain: boolean
  /** Numbers of schemas, for keys. Mutable. */
  readonly numbers: Map<unknown, number>
}

/** The meaning of references at a location in a schema document. */
export class ReferenceScope {
  readonly #document: Document
  readonly #stack: XStack
  /** Scopes inside parts, and targets by reference: finding one takes as long as hundreds of steps of a check. Mutable. */
  readonly #entered = new Map<object | boolean, ReferenceScope>()
  readonly #targets = new Map<string, ReferenceTarget>()
  #key: string | undefined

  private constructor(document: Document, stack: XStack) {
    this.#document = document
    this.#stack = stack
  }

  /** Returns the scope outside of a document. */
  static around(
    root: object | boolean,
    references: Readonly<Record<string, object | boolean>> = {},
  ): ReferenceScope {
    const isPlain = !hasScopes(root, Object.values(references))
    return new ReferenceScope(
      { root, references, isPlain, numbers: new Map() },
      Stack(references, root),
    )
  }

  /** Whether references mean the same everywhere in the document: no part has an id or an anchor. */
  get isPlain(): boolean {
    return this.#document.isPlain
  }

  /** Returns the scope inside a part of the document. */
  enter(schema: object | boolean): ReferenceScope {
    if (this.#document.isPlain) return this
    const before = this.#entered.get(schema)
    if (before !== undefined) return before
    const stack = NextStack(this.#stack, schema)
    const scope = stack === this.#stack ? this : new ReferenceScope(this.#document, stack)
    this.#entered.set(schema, scope)
    return scope
  }

  /** Whether the scope inside a part of the document is known, so that {@link enter} takes no time. */
  hasEntered(schema: object | boolean): boolean {
    return this.#document.isPlain || this.#entered.has(schema)
  }

  /** Returns a text that is the same for scopes in which all references mean the same. */
  key(): string {
    if (this.#document.isPlain) return ''
    this.#key ??= this.#createKey()
    return this.#key
  }

  #createKey(): string {
    const { ids, dynamicAnchors, resourceEntries, ...stack } = this.#stack
    // The first anchor of a name counts.
    const anchors = new Map(dynamicAnchors.toReversed().map((each) => [each.$dynamicAnchor, each]))
    return [
      stack.lexicalBase,
      stack.resourceBase,
      stack.referenceBase,
      stack.useResourceBaseForReference,
      stack.pendingResource,
      stack.enteredResource,
      this.#numberOf(stack.lexicalSchema),
      this.#numberOf(stack.recursiveAnchor),
      ...[...new Set(ids)].map((each) => this.#numberOf(each)).toSorted((a, b) => a - b),
      'anchors',
      ...[...anchors.values()].map((each) => this.#numberOf(each)).toSorted((a, b) => a - b),
      'resources',
      ...[...resourceEntries]
        .map(([target, { base }]) => `${this.#numberOf(target)} ${base}`)
        .toSorted(),
    ].join(' ')
  }

  #numberOf(schema: unknown): number {
    const { numbers } = this.#document
    const number = numbers.get(schema) ?? numbers.size
    numbers.set(schema, number)
    return number
  }

  /**
   * Returns the target of a `$ref`, with its scope.
   *
   * @throws when the text is not a valid reference.
   */
  resolve(reference: string): ReferenceTarget {
    const { root, references, isPlain } = this.#document
    if (isPlain) {
      // TypeBox searches the whole document for each reference.
      const schema = Object.hasOwn(references, reference)
        ? references[reference]
        : followPointer(root, reference)
      if (schema !== undefined) return { schema, scope: this }
    }
    const before = this.#targets.get(reference)
    if (before !== undefined) return before
    const { schema, stack } = Resolve.Ref(this.#stack, { $ref: reference })
    const target = { schema, scope: new ReferenceScope(this.#document, stack) }
    this.#targets.set(reference, target)
    return target
  }

  /** Returns the target of a `$dynamicRef`, with its scope. */
  resolveDynamic(reference: string): ReferenceTarget {
    return this.#entering(Resolve.DynamicRef(this.#stack, { $dynamicRef: reference }))
  }

  /** Returns the target of a `$recursiveRef`, with its scope. */
  resolveRecursive(reference: string): ReferenceTarget {
    return this.#entering(Resolve.RecursiveRef(this.#stack, { $recursiveRef: reference }))
  }

  #entering(schema: unknown): ReferenceTarget {
    const scope = new ReferenceScope(this.#document, { ...this.#stack, pendingResource: true })
    return { schema, scope }
  }
}

function followPointer(root: object | boolean, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  const target = valueAt(root, decodeURIComponent(reference))
  return typeof target === 'boolean' || isJsonObject(target) ? target : undefined
}

const SCOPE_KEYWORDS: ReadonlySet<string> = new Set([
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
])

/** Returns whether a document has an id or an anchor, other than the id of its root. */
function hasScopes(root: unknown, others: readonly unknown[]): boolean {
  const seen = new Set<unknown>()
  const open: unknown[] = [root, ...others]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || part === null || seen.has(part)) continue
    seen.add(part)
    for (const [key, inner] of Object.entries(part)) {
      if (SCOPE_KEYWORDS.has(key) && !(part === root && key === '$id')) return true
      open.push(inner)
    }
  }
  return false
}
