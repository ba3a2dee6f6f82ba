/** Receipts, looked at and verified without anybody's help. */
@NullMarked
package org.cloister.ctl.receipt;

import org.jspecify.annotations.NullMarked;
