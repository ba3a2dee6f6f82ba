/** The submit plugin and its data. */
@NullMarked
package org.cloister.vm.controller.jobsubmit;

import org.jspecify.annotations.NullMarked;
