/** Pure: converts rows of the embedded store to records. */
import { RecordReader } from '../../shared/read-records.ts'
import { sqliteDialect } from '../schema/dialect.ts'

/** Reads the rows of this store. */
export const sqliteRecords = new RecordReader(sqliteDialect.texts)
