/** A worker VM's role: its identity, its controlling VM's session and the hand-over's verification. */
@NullMarked
package org.cloister.vm.worker;

import org.jspecify.annotations.NullMarked;
