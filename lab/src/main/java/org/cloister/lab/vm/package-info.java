/** Whole guests for the benches: what agent-vm makes of one, beside the same image without anything of ours. */
@NullMarked
package org.cloister.lab.vm;

import org.jspecify.annotations.NullMarked;
