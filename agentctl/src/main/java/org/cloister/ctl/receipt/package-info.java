/** agentctl receipt: prints and verifies receipts. */
@NullMarked
package org.cloister.ctl.receipt;

import org.jspecify.annotations.NullMarked;
