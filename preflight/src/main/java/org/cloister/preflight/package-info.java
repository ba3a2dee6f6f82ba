/** What a host or a VM needs, one check a need, each with the way to mend it. Looks and changes nothing. */
@NullMarked
package org.cloister.preflight;

import org.jspecify.annotations.NullMarked;
