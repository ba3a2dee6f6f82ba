/** The VM's clock, power-off and job processes. */
@NullMarked
package org.cloister.vm.system;

import org.jspecify.annotations.NullMarked;
