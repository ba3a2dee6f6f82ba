package org.cloister.vm.access;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import org.cloister.protocol.identity.Role;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A controlling VM's desk, and one person who may log in there as a member or as an exporter. */
@SuppressWarnings("NullAway.Init") // set before each
abstract class OneLogin {
    @TempDir
    Path folder;

    AccessWorld world;
    AccessWorld.Person ada;

    @BeforeEach
    void begin() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a login of somebody else is root's to give");
        world = new AccessWorld(folder);
        ada = world.new Person("ada7", Role.MEMBER, Role.EXPORTER);
    }

    @AfterEach
    void end() {
        if (world != null) {
            world.close();
        }
    }
}
