package org.cloister.vm.controller.ssh;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import org.cloister.protocol.identity.CertificateRole;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A controlling VM's gateway, and one person who may log in there as a member or as an exporter. */
@SuppressWarnings("NullAway.Init") // set before each
abstract class SingleLoginFixture {
    @TempDir
    Path folder;

    SshGatewayFixture fixture;
    SshGatewayFixture.Person ada;

    @BeforeEach
    void setUp() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a login of somebody else is root's to give");
        fixture = new SshGatewayFixture(folder);
        ada = fixture.new Person("ada7", CertificateRole.MEMBER, CertificateRole.EXPORTER);
    }

    @AfterEach
    void tearDown() {
        if (fixture != null) {
            fixture.close();
        }
    }
}
