/** What VMs this host has or had: written down before each act, held against what is there, and put right. */
@NullMarked
package org.cloister.host.reconcile;

import org.jspecify.annotations.NullMarked;
