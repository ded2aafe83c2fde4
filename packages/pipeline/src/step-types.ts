/**
 * The types of values between steps.
 *
 * A text tool (input type `string`) accepts any value, as text. Any other step needs a value of its input type. Types that
 * the compiler does not know, such as the output of an imported tool, are checked when the pipeline runs.
 */
import type { AgentTool, ToolContext, ToolResult, TypedTool } from '@tutti/core'

/** Input type of a tool; unknown if the compiler does not know it. */
export type InputOf<Tool> =
  Tool extends TypedTool<infer _Seen, infer _Output, infer Source> ? Source : unknown

/** Type of the decoded input that the tool receives; a schema library can transform the input. */
export type SeenBy<Tool> =
  Tool extends TypedTool<infer Seen, infer _Output, infer _Source> ? Seen : unknown

/** Output type of a tool: `string` when it declares no output; unknown if the compiler does not know it. */
export type OutputOf<Tool> =
  Tool extends TypedTool<infer _Seen, infer Output, infer _Source> ? Output : unknown

/** Whether an input type is that of a text tool. */
export type IsText<Input> = [Input] extends [string] ? true : false

/**
 * Common input type of a union of tools: text if all are text tools, otherwise the intersection of the other tools'
 * inputs.
 */
export type SharedInput<Tool> = Shared<Tool, DemandOf<Tool, 'given'>>

/** Common type of the decoded input of a union of tools. */
export type SharedSeen<Tool> = Shared<Tool, DemandOf<Tool, 'seen'>>

type Shared<Tool, Demands> = [Demands] extends [never]
  ? [IsTextTool<Tool>] extends [true]
    ? string
    : unknown
  : [Demands] extends [(input: infer Input) => void]
    ? Flat<Input>
    : never

/** The same type with its members written out, for readable messages. */
export type Flat<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]: Value[Key] }
    : Value

type IsTextTool<Tool> = Tool extends AgentTool ? IsText<InputOf<Tool>> : never

/** A function type for each known input type that is not text; inference from their union intersects the inputs. */
type DemandOf<Tool, Side extends 'given' | 'seen'> = Tool extends AgentTool
  ? IsText<InputOf<Tool>> extends true
    ? never
    : unknown extends InputOf<Tool>
      ? never
      : (input: Side extends 'given' ? InputOf<Tool> : SeenBy<Tool>) => void
  : never

/** Successful result of a step, as an adapter receives it: with the value that the step declares. */
export type StepResult<Output> = ToolResult &
  (unknown extends Output
    ? { readonly structured?: unknown }
    : IsText<Output> extends true
      ? { readonly structured?: unknown }
      : { readonly structured: Output })

/**
 * Converts a result to the input of the next step; for a text tool, `undefined` and `null` become empty text. `context` is
 * that of the whole pipeline.
 */
export type Adapter<Output = unknown, Returned = unknown> = (
  result: StepResult<Output>,
  context: ToolContext,
) => Returned | Promise<Returned>

declare const returned: unique symbol

/** Marks a type as the return type of an adapter. */
export interface Adapted<Returned> {
  readonly [returned]: Returned
}

/** Compile error of a step that does not accept the output of the previous step. */
export interface Misfit<Given, Taken> {
  readonly 'this step does not accept the output of the previous step': {
    readonly output: Given
    readonly accepts: Taken
  }
}

/** Compile error of a step that does not accept the return value of the adapter. */
export interface AdapterMisfit<Given, Taken> {
  readonly 'this step does not accept the return value of the adapter': {
    readonly returned: Given
    readonly accepts: Taken
  }
}

/** `true` when a step accepts a value, otherwise the compile error. */
export type Fit<Given, Input> = [Given] extends [never]
  ? true
  : [Given] extends [Adapted<infer Returned>]
    ? AdapterFit<Returned, Input>
    : IsText<Input> extends true
      ? true
      : unknown extends Given
        ? true
        : [Given] extends [Input]
          ? true
          : Misfit<Given, Input>

type AdapterFit<Returned, Input> = [Returned] extends [
  IsText<Input> extends true ? string | null | undefined : Input,
]
  ? true
  : AdapterMisfit<Returned, Input>

/** The tool, or the compile error if it does not accept the value. */
export type Fitting<Given, Tool> =
  Fit<Given, InputOf<Tool>> extends true ? Tool : Fit<Given, InputOf<Tool>>

/** A list of tools, with a compile error in place of each that does not accept the output of the previous one. */
export type FittingList<Given, Tools extends readonly unknown[]> = {
  [Index in keyof Tools]: FitAt<Given, Tools, Index> extends true
    ? Tools[Index]
    : FitAt<Given, Tools, Index>
}

type FitAt<Given, Tools extends readonly unknown[], Index> = Fits<Given, Tools>[Index &
  keyof Fits<Given, Tools>]

type Fits<Given, Tools extends readonly unknown[]> = Tools extends readonly [
  infer First,
  ...infer Rest,
]
  ? [Fit<Given, InputOf<First>>, ...Fits<OutputOf<First>, Rest>]
  : { [Index in keyof Tools]: true }

/** The last of a list of tools; any of them if its length is not known. */
export type Last<Tools extends readonly AgentTool[]> = Tools extends readonly [
  ...infer _,
  infer Final,
]
  ? Final
  : Tools[number]
