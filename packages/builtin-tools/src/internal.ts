/** For the other packages of Tutti only: its names may change in every version. */
export type { DatetimeOptions } from './datetime/datetime.ts'
export type { JsonParserInput } from './json-parser/json-parser.ts'
export type { FileReadInput, FileReadOptions } from './files/file-read.ts'
export type { FileWriteInput } from './files/file-write.ts'
export type { HumanInputOptions } from './human-input.ts'
