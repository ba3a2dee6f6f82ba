/** The daemon: its parts joined. */
@NullMarked
package org.cloister.vm.run;

import org.jspecify.annotations.NullMarked;
