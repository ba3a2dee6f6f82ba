/** Verifies workers, hands credentials over to them, and readmits them. */
@NullMarked
package org.cloister.vm.controller.admission;

import org.jspecify.annotations.NullMarked;
