/** The format of receipts and their verification. */
@NullMarked
package org.cloister.protocol.receipt;

import org.jspecify.annotations.NullMarked;
