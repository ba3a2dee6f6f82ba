/** Drives of controlling VMs on storage that several hosts share: who may write to one, and since which epoch. */
@NullMarked
package org.cloister.host.drive;

import org.jspecify.annotations.NullMarked;
