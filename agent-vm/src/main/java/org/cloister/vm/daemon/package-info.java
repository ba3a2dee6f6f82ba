/** The daemon: its parts joined. */
@NullMarked
package org.cloister.vm.daemon;

import org.jspecify.annotations.NullMarked;
