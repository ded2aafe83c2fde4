/**
 * Parts of TypeBox's schema engine that other packages of Tutti use. They are exported from here so that there is only one
 * copy, which is bundled into this package. The declarations do not name the engine's types: compilers of users would
 * read a hundred more files.
 */
import { Check, NextStack, Resolve, Stack, type XStack } from 'typebox/schema'

/** Returns whether the value is valid, without compiling the schema. `references` are schemas by their `$ref`. */
export function interpretedCheck(
  references: Readonly<Record<string, object | boolean>>,
  schema: object | boolean,
  value: unknown,
): boolean {
  return Check(references, schema, value)
}

/** The meaning of references at a place in a schema document. */
export class ReferenceScope {
  readonly #stack: XStack

  private constructor(stack: XStack) {
    this.#stack = stack
  }

  /** Returns the scope outside of a document. */
  static around(root: object | boolean): ReferenceScope {
    return new ReferenceScope(Stack({}, root))
  }

  /** Returns the scope inside a part of the document. */
  enter(schema: object | boolean): ReferenceScope {
    return new ReferenceScope(NextStack(this.#stack, schema))
  }

  /**
   * Returns the target of a `$ref`, with its scope.
   *
   * @throws when the text is not a valid reference.
   */
  resolve(reference: string): { readonly schema: unknown; readonly scope: ReferenceScope } {
    const { schema, stack } = Resolve.Ref(this.#stack, { $ref: reference })
    return { schema, scope: new ReferenceScope(stack) }
  }
}
