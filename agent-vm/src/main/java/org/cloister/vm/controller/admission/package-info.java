/** The controlling VM towards its workers: evidence, what is handed over once a slot, and the circuit that lives on after that. */
@NullMarked
package org.cloister.vm.controller.admission;

import org.jspecify.annotations.NullMarked;
