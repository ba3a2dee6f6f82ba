/** Collects the parts of receipts and issues receipts. */
@NullMarked
package org.cloister.vm.controller.receipts;

import org.jspecify.annotations.NullMarked;
