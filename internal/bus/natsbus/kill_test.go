package natsbus_test

func childServer() bool { return false }
