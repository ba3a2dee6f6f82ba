/** Receipts of a project's tickets, from the parts of all who have one. */
@NullMarked
package org.cloister.vm.controller.receipts;

import org.jspecify.annotations.NullMarked;
