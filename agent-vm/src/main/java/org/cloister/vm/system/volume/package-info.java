/** What volumes this VM has, for whoever looks from within: no keys, and nothing of what is on them. */
@NullMarked
package org.cloister.vm.system.volume;

import org.jspecify.annotations.NullMarked;
