/** The project interface and its nftables tables. */
@NullMarked
package org.cloister.vm.system.network;

import org.jspecify.annotations.NullMarked;
