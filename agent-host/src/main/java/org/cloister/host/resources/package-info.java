/** The host itself, as the ledger sees and changes it: what is made of a VM, what is found of it, and what is taken away. */
@NullMarked
package org.cloister.host.resources;

import org.jspecify.annotations.NullMarked;
