/** What every part of the host says of a VM: its names and its owner. */
@NullMarked
package org.cloister.host.vm;

import org.jspecify.annotations.NullMarked;
