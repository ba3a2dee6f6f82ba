/** What a controlling VM gives each worker: a way in, its job's part of the storage, a certificate and the cluster's key. */
@NullMarked
package org.cloister.vm.controller.provision;

import org.jspecify.annotations.NullMarked;
