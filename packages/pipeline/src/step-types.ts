/**
 * The types that steps hand to each other.
 *
 * A text tool (input type `string`) takes whatever comes, as text. Any other step must be given what
 * its input type asks for. What the compiler does not know, such as the output of an imported tool, is
 * checked when the pipeline runs.
 */
import type { AgentTool, ToolContext, ToolResult, TypedTool } from '@tutti/core'

/** What a tool takes; unknown where the compiler cannot say. */
export type InputOf<Tool> =
  Tool extends TypedTool<infer _Seen, infer _Output, infer Source> ? Source : unknown

/** What its body gets of that: a schema library can make something else of what comes. */
export type SeenBy<Tool> =
  Tool extends TypedTool<infer Seen, infer _Output, infer _Source> ? Seen : unknown

/** What a tool gives: `string` when it declares no output; unknown where the compiler cannot say. */
export type OutputOf<Tool> =
  Tool extends TypedTool<infer _Seen, infer Output, infer _Source> ? Output : unknown

/** Whether an input type is that of a text tool. */
export type IsText<Input> = [Input] extends [string] ? true : false

/**
 * What several tools take together: text where all are text tools, else what each of the others asks
 * for. Takes a union of tools.
 */
export type SharedInput<Tool> = Shared<Tool, DemandOf<Tool, 'given'>>

/** What the bodies of several tools see together. Takes a union of tools. */
export type SharedSeen<Tool> = Shared<Tool, DemandOf<Tool, 'seen'>>

type Shared<Tool, Demands> = [Demands] extends [never]
  ? [IsTextTool<Tool>] extends [true]
    ? string
    : unknown
  : [Demands] extends [(input: infer Input) => void]
    ? Flat<Input>
    : never

/** The same type written out, so that people can read it. */
export type Flat<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]: Value[Key] }
    : Value

type IsTextTool<Tool> = Tool extends AgentTool ? IsText<InputOf<Tool>> : never

/** A function for each input type that is known and not text: one that all of them can be takes all. */
type DemandOf<Tool, Side extends 'given' | 'seen'> = Tool extends AgentTool
  ? IsText<InputOf<Tool>> extends true
    ? never
    : unknown extends InputOf<Tool>
      ? never
      : (input: Side extends 'given' ? InputOf<Tool> : SeenBy<Tool>) => void
  : never

/** The result of a step that worked, as an adapter gets it: with the value that the step declares. */
export type StepResult<Output> = ToolResult &
  (unknown extends Output
    ? { readonly structured?: unknown }
    : IsText<Output> extends true
      ? { readonly structured?: unknown }
      : { readonly structured: Output })

/**
 * Makes the input of the next step out of a result; nothing returned is empty text. The context is
 * that of the whole pipeline.
 */
export type Adapter<Output = unknown, Returned = unknown> = (
  result: StepResult<Output>,
  context: ToolContext,
) => Returned | Promise<Returned>

declare const returned: unique symbol

/** In place of an output: what an adapter makes of it. */
export interface Adapted<Returned> {
  readonly [returned]: Returned
}

/** Why a step cannot follow another, as the compiler says it. */
export interface Misfit<Given, Taken> {
  readonly 'this step does not take what the step before gives': {
    readonly gives: Given
    readonly takes: Taken
  }
}

/** Why an adapter does not lead to a step, as the compiler says it. */
export interface AdapterMisfit<Given, Taken> {
  readonly 'this step does not take what the adapter returns': {
    readonly returns: Given
    readonly takes: Taken
  }
}

/** `true` when a step may follow what is given, or why not. */
export type Fit<Given, Input> =
  Given extends Adapted<infer Returned>
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

/** The tool, or why it may not follow what is given. */
export type Fitting<Given, Tool> =
  Fit<Given, InputOf<Tool>> extends true ? Tool : Fit<Given, InputOf<Tool>>

/** The tools of a list, with a reason in place of each that may not follow the one before it. */
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

/** The last of a list of tools; any of them where its length is not known. */
export type Last<Tools extends readonly AgentTool[]> = Tools extends readonly [
  ...infer _,
  infer Final,
]
  ? Final
  : Tools[number]
