/** Phases from boot to assignment: configuration, boot keys, host channel and trust store. */
@NullMarked
package org.cloister.vm.boot;

import org.jspecify.annotations.NullMarked;
