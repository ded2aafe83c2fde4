/**
 * Types of the values of schemas, as TypeBox infers them with less work for the compiler.
 *
 * TypeBox compares a schema with thirty kinds in turn, and again for every object that contains it. Here the kind
 * selects the type. Kinds that are rare in schemas are left to TypeBox; a `Type.This()` inside of one of these (a tuple,
 * an intersection) is an object whose properties are unknown.
 */
import type Type from 'typebox'

/** Type of the values of a schema. `This` has the properties of the object around it, for `Type.This()`. */
export type Static<Schema, This extends Type.TProperties = {}> = Schema extends {
  readonly '~kind': keyof ScalarTypes
}
  ? ScalarTypes[Schema['~kind']]
  : Schema extends { readonly '~kind': keyof CompoundTypes<Schema, This> }
    ? CompoundTypes<Schema, This>[Schema['~kind']]
    : Schema extends Type.TSchema
      ? Type.Static<Schema>
      : never

/** Types by kind, where the kind alone determines it. */
interface ScalarTypes {
  readonly BigInt: bigint
  readonly Boolean: boolean
  readonly Integer: number
  readonly Never: never
  readonly Null: null
  readonly Number: number
  readonly String: string
  readonly Symbol: symbol
  readonly Undefined: undefined
  readonly Unknown: unknown
  readonly Void: void
}

/** Types by kind, where they depend on the parts of the schema. */
interface CompoundTypes<Schema, This extends Type.TProperties> {
  readonly Array: Schema extends { readonly items: infer Item }
    ? Schema extends Type.TImmutable
      ? readonly Static<Item, This>[]
      : Static<Item, This>[]
    : never
  readonly Enum: Schema extends { readonly enum: readonly (infer Value)[] } ? Value : never
  readonly Literal: Schema extends { readonly const: infer Value } ? Value : never
  readonly Object: Schema extends { readonly properties: infer Properties extends Type.TProperties }
    ? StaticObject<Properties>
    : never
  readonly Record: Schema extends { readonly patternProperties: { readonly '^.*$': infer Value } }
    ? Record<string, Static<Value, This>>
    : Schema extends Type.TSchema
      ? Type.Static<Schema>
      : never
  readonly This: StaticObject<This>
  readonly Union: Schema extends { readonly anyOf: readonly (infer Member)[] }
    ? Static<Member, This>
    : never
}

type StaticObject<Properties extends Type.TProperties> = keyof Properties extends never
  ? object
  : Extract<Properties[keyof Properties], Type.TReadonly> extends never
    ? Flat<
        {
          [Key in keyof Properties as Properties[Key] extends Type.TOptional ? never : Key]: Static<
            Properties[Key],
            Properties
          >
        } & {
          [
            Key in keyof Properties as Properties[Key] extends Type.TOptional ? Key : never
          ]?: Static<Properties[Key], Properties>
        }
      >
    : Type.Static<Type.TObject<Properties>>

type Flat<Value> = { [Key in keyof Value]: Value[Key] }
