export declare const PROMPT: string
export declare const TOOL: { readonly name: string; readonly description: string }
export declare const INPUT: {
  readonly item: string
  readonly count: number
  readonly size: string
  readonly gift: boolean
  readonly tags: readonly string[]
}
export declare function order(input: { readonly item: string; readonly count: number }): string
export declare function answerPieces(output: string): readonly string[]
export declare const ANSWER: string
